"""The line of a frame, in all forms that people paste.

Every expression is anchored and free of nested repeats, so that a hostile line costs no more than its length.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from kb import lazy
from troubleshooter.observe.model import Frame

HEADER = "Traceback (most recent call last)"

MAX_FRAMES = 200
"""At most this many frames of one traceback are kept."""

MAX_AROUND = 6
"""Lines of code above and below the line of a frame that are kept."""

FrameForm = Literal["python", "colon", "module", "unquoted", "bare", "cell"]
"""The form of a frame line; each one names an expression below."""

# Python's own:   File "/x/y.py", line 12, in f
PYTHON_FRAME = lazy.compile(
    r"(?P<indent>\s*)File \"(?P<file>[^\"]{1,1000})\", line (?P<line>\d{1,9})(?:, in (?P<function>.{1,300}))?"
)
# IPython 8 and later:   File ~/x/y.py:12, in f(self, x)     Rich:   /x/y.py:12 in f
_COLON = lazy.compile(
    r"(?:File )?(?P<file>(?:~|/|\.|[A-Za-z]:[\\/]|<|[\w.-]+[\\/])?[^:\"|*?]{0,600}?(?:\.pyx?|\.ipynb|>)):(?P<line>\d{1,9}),?"
    r" in (?P<function>[\w.<>: ]{1,200})"
)
# IPython 8 at a module's top level:   File ~/x/y.py:12
_MODULE = lazy.compile(r"File (?P<file>(?:[A-Za-z]:)?[^:\"|*?]{1,600}?\.pyx?):(?P<line>\d{1,9})$")
# Python's own, after something took the quotes away:   File /x/y.py, line 12, in f
_UNQUOTED = lazy.compile(
    r"File (?P<file>[^:\"|*?,]{1,600}?\.pyx?), line (?P<line>\d{1,9}), in (?P<function>[\w.<>]{1,200})$"
)
# IPython before 8, Colab:   ~/x/y.py in f(self)   then   ---> 12 code
_BARE = lazy.compile(
    r"(?P<file>(?:~|/|\.|[A-Za-z]:[\\/])[^:\"|*?]{0,600}?\.pyx?|<ipython-input-[^>]{1,80}>|/tmp/ipython-input-[^ ]{1,80}) in "
    r"(?P<function>[\w.<>]{1,200}(?: line: \d+>)?)"
)
# A notebook cell:   Cell In[7], line 1     Input In [3], in <cell line: 1>()     In [3], line 2
_CELL = lazy.compile(
    r"(?P<cell>(?:Cell |Input )?In ?\[\d+\])(?:, line (?P<line>\d{1,9})|, in (?P<function><[^>]{1,80}>|[\w.]+).*)"
)
# A link that Colab, Jupyter or VS Code put around a path:   [/usr/lib/x.py](https://localhost:8080/#) in f(x)
_LINK = lazy.compile(r"\[(?P<text>[^\]\[]{1,600})\]\([^)\[]{0,1000}\)")

ARROW = lazy.compile(r"-{1,5}>\s?\[?(?P<line>\d{1,9})\b")
"""The line of code where a notebook's frame stands: ``---> 12 trainer.train()``."""
_CARETS = lazy.compile(r"\s*[~^]{1,400}(?:[~^ ]*)$")
_REPEATED = lazy.compile(r"\s*\[Previous line repeated (\d+) more times?\]")


class FramePosition(NamedTuple):
    """The frame that a line names. ``line`` is 0 if the number is given by an arrow on a later line."""

    file: str
    line: int
    function: str
    form: FrameForm


def frame_position(text: str) -> FramePosition | None:
    """The frame that a line names, in any form; None if it names none."""
    if 'File "' in text:
        if found := PYTHON_FRAME.match(text):
            return FramePosition(found["file"], int(found["line"]), _name(found["function"] or ""), "python")
        return None
    text = text.strip()
    if text.startswith(("[", "File [")):
        text = _LINK.sub(lambda m: m["text"], text)
    if ":" in text and " in " in text and (found := _COLON.match(text)):
        return FramePosition(found["file"], int(found["line"]), _name(found["function"]), "colon")
    if text.startswith("File "):
        if found := _MODULE.match(text):
            return FramePosition(found["file"], int(found["line"]), "<module>", "module")
        if found := _UNQUOTED.match(text):
            return FramePosition(found["file"], int(found["line"]), _name(found["function"]), "unquoted")
    if " in " in text and (found := _BARE.match(text)):
        return FramePosition(found["file"], 0, _name(found["function"]), "bare")
    if "In" in text and (found := _CELL.match(text)):
        return FramePosition(found["cell"], int(found["line"] or 0), _name(found["function"] or "<cell>"), "cell")
    return None


def keep_around(frame: Frame, code: str) -> None:
    """Keep a line of code that a traceback shows above the line of a frame, or below it once that one was shown."""
    if not frame.shown:
        frame.above = (*frame.above[1 - MAX_AROUND :], code)
    elif len(frame.below) < MAX_AROUND:
        frame.below += (code,)


def is_decoration(text: str) -> bool:
    """Whether a line between frames can be skipped: it is empty, holds carets below code, or says "Previous line
    repeated"."""
    bare = text.strip()
    return not bare or (bare[0] in "~^[" and bool(_CARETS.match(text) or _REPEATED.match(text)))


def _name(function: str) -> str:
    """The function's name without its arguments."""
    function = function.strip()
    return function if function.startswith("<") else function.partition("(")[0].strip()
