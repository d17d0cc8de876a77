"""How tracebacks are laid out: the regular expressions for frames and endings of the layouts that people paste.

Every expression is anchored and free of nested repeats, so that a hostile line costs no more than its length.
"""

from __future__ import annotations

from typing import NamedTuple

from kb import lazy

HEADER = "Traceback (most recent call last)"

# Python's own:   File "/x/y.py", line 12, in f
PLAIN = lazy.compile(
    r"(?P<indent>\s*)File \"(?P<file>[^\"]{1,1000})\", line (?P<line>\d{1,9})(?:, in (?P<function>.{1,300}))?"
)
# IPython 8 and later:   File ~/x/y.py:12, in f(self, x)     Rich:   /x/y.py:12 in f
COLON = lazy.compile(
    r"(?:File )?(?P<file>(?:~|/|\.|[A-Za-z]:[\\/]|<|[\w.-]+[\\/])?[^:\"|*?]{0,600}?(?:\.pyx?|\.ipynb|>)):(?P<line>\d{1,9}),?"
    r" in (?P<function>[\w.<>: ]{1,200})"
)
# IPython 8 at a module's top level:   File ~/x/y.py:12
MODULE = lazy.compile(r"File (?P<file>(?:[A-Za-z]:)?[^:\"|*?]{1,600}?\.pyx?):(?P<line>\d{1,9})$")
# Python's own, where the quotes were lost on the way:   File /x/y.py, line 12, in f
UNQUOTED = lazy.compile(
    r"File (?P<file>[^:\"|*?,]{1,600}?\.pyx?), line (?P<line>\d{1,9}), in (?P<function>[\w.<>]{1,200})$"
)
# IPython before 8, Colab:   ~/x/y.py in f(self)   then   ---> 12 code
BARE = lazy.compile(
    r"(?P<file>(?:~|/|\.|[A-Za-z]:[\\/])[^:\"|*?]{0,600}?\.pyx?|<ipython-input-[^>]{1,80}>|/tmp/ipython-input-[^ ]{1,80}) in "
    r"(?P<function>[\w.<>]{1,200}(?: line: \d+>)?)"
)
# A notebook cell:   Cell In[7], line 1     Input In [3], in <cell line: 1>()     In [3], line 2
CELL = lazy.compile(
    r"(?P<cell>(?:Cell |Input )?In ?\[\d+\])(?:, line (?P<line>\d+)|, in (?P<function><[^>]{1,80}>|[\w.]+).*)"
)
# A link that Colab, Jupyter or VS Code put around a path:   [/usr/lib/x.py](https://localhost:8080/#) in f(x)
LINK = lazy.compile(r"\[(?P<text>[^\]\[]{1,600})\]\([^)\[]{0,1000}\)")
ARROW = lazy.compile(r"-{1,5}>\s?\[?(?P<line>\d{1,9})\b")
NUMBERED = lazy.compile(r"\s{0,12}\d{1,9}\s(?!File)")
CARETS = lazy.compile(r"\s*[~^]{1,400}(?:[~^ ]*)$")
REPEATED = lazy.compile(r"\s*\[Previous line repeated (\d+) more times?\]")
NOTEBOOK_HEADER = lazy.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})\s+Traceback \(most recent call last\)")
# Torch elastic's table of failures:   rank      : 1 (local_rank: 1)   …   traceback : Traceback (most recent call last):
TABLE_TRACEBACK = lazy.compile(r"\s*traceback\s*: Traceback \(most recent")
TABLE_RANK = lazy.compile(r"\s*rank\s*: (?P<rank>\d{1,5})\b")

# Rich and other boxes; old terminals draw them with + - |
BOX_TOP = lazy.compile(r"\s*[╭┌+][─\-━ ].{0,400}Traceback \(most recent call last\).{0,400}$")
BOX_END = lazy.compile(r"\s*[╰└+][─\-━]{8,}")
BOX_LINE = lazy.compile(r"\s*[│|](?: (?P<text>.*?))??\s?[│|]?$")
BOX_CODE = lazy.compile(r"\s*(?:[❱>]\s*)?(?:\d{1,9}\s*)?[│|]")

# What VS Code's debugger shows where a program stops: the type, below it the message, then frames
OCCURRED = lazy.compile(
    r"(?:Exception has occurred|\u53d1\u751f\u5f02\u5e38)[:\uff1a] ?(?P<type>[A-Za-z_][\w.]{0,200})(?:\s+\(note: .*\))?\s*$"
)

GROUP_TOP = lazy.compile(r"\s*\+ Exception Group Traceback \(most recent call last\)")
GROUP_RULE = lazy.compile(r"\s*\+[-+]+(?: \d+ -+| \.\.\. -+)?$")
GROUP_LINE = lazy.compile(r"\s*\| ?(?P<text>.*)$")

CHAIN_CAUSE = "The above exception was the direct cause of the following exception"
CHAIN_CONTEXT = "During handling of the above exception, another exception occurred"

_LOWER = "timeout|gaierror|herror|error|socket\\.timeout|socket\\.gaierror|struct\\.error|zlib\\.error|binascii\\.Error"
# The last line of a traceback: a type (any name: the frames above say that it is one), then the message.
ENDING = lazy.compile(
    rf"(?P<type>(?:[A-Za-z_][\w<>]*\.)*(?:[A-Z_][\w]*|{_LOWER})(?:\([\w. ]{{0,120}}\))?)"
    r"(?::(?:(?:\s|(?<=Error:)|(?<=Exception:))(?P<message>.*))?|$)"  # the blank is lost where people type it again
)
# The same line alone, without frames: only names that can be nothing else.
ALONE = lazy.compile(
    r"(?:[Uu]ncaught (?:exception: )?|[Uu]nhandled (?:exception: )?|Exception: )?"
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure|Failed|Interrupt|Exit|Timeout|Expired|Unsupported|Invalid)"
    r"|(?:[a-z_]\w*\.)+(?:exc|exceptions?|errors?)\.[A-Z]\w*|(?:_?queue\.)Empty|Exception|StopIteration|(?:[a-z_]\w*\.)*OutOfResources"
    r"|torch\.cuda\.OutOfMemoryError)"
    r"(?:\((?P<inner>[\w. ]{1,120})\))?(?::(?:\s+(?P<message>\S.*)|\s*$)|$)"
)


class Place(NamedTuple):
    """A frame as a layout names it; ``line`` is 0 where an arrow below tells it."""

    file: str
    line: int
    function: str


def frame(text: str) -> Place | None:
    """The frame that a line names, in any layout but Rich's box."""
    if 'File "' in text:
        if found := PLAIN.match(text):
            return Place(found["file"], int(found["line"]), _name(found["function"] or ""))
        return None
    text = text.strip()
    if text.startswith(("[", "File [")):
        text = LINK.sub(lambda m: m["text"], text)
    if ":" in text and " in " in text and (found := COLON.match(text)):
        return Place(found["file"], int(found["line"]), _name(found["function"]))
    if text.startswith("File "):
        if found := MODULE.match(text):
            return Place(found["file"], int(found["line"]), "<module>")
        if found := UNQUOTED.match(text):
            return Place(found["file"], int(found["line"]), _name(found["function"]))
    if " in " in text and (found := BARE.match(text)):
        return Place(found["file"], 0, _name(found["function"]))
    if "In" in text and (found := CELL.match(text)):
        return Place(found["cell"], int(found["line"] or 0), _name(found["function"] or "<cell>"))
    return None


def _name(function: str) -> str:
    """The function's name without its arguments."""
    function = function.strip()
    return function if function.startswith("<") else function.partition("(")[0].strip()
