"""The line that names an exception, and the end of its message.

Messages may have several lines, and other programs go on printing after them. So lines are added until one looks as if
another program printed it (`docs/decisions/0016-where-a-message-ends.md` has the measurement).
"""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.read.line import Line
from troubleshooter.read.text import BAR

MESSAGE_LINES = 120
"""At most this many lines of one message are read."""

_LEVEL = r"(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL|NOTICE|SUCCESS|TRACE)"

_LOWER = "timeout|gaierror|herror|error|socket\\.timeout|socket\\.gaierror|struct\\.error|zlib\\.error|binascii\\.Error"
LAST_LINE = lazy.compile(
    rf"(?P<type>(?:[A-Za-z_][\w<>]*\.)*(?:[A-Z_][\w]*|{_LOWER})(?:\([\w. ]{{0,120}}\))?)"
    r"(?::(?:(?:\s|(?<=Error:)|(?<=Exception:))(?P<message>.*))?|$)"  # people who retype it lose the blank
)
"""The last line of a traceback: a type, then the message. Any name is accepted as a type, because the frames above show
that one is expected."""
ALONE = lazy.compile(
    r"(?:[Uu]ncaught (?:exception: )?|[Uu]nhandled (?:exception: )?|Exception: )?"
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure|Failed|Interrupt|Exit|Timeout|Expired|Unsupported|Invalid)"
    r"|(?:[a-z_]\w*\.)+(?:exc|exceptions?|errors?)\.[A-Z]\w*|(?:_?queue\.)Empty|Exception|StopIteration|(?:[a-z_]\w*\.)*OutOfResources"
    r"|torch\.cuda\.OutOfMemoryError)"
    r"(?:\((?P<inner>[\w. ]{1,120})\))?(?::(?:\s+(?P<message>\S.*)|\s*$)|$)"
)
"""The same line without frames above it: only names that can only be exceptions are accepted."""

# Lines that no message contains: the next traceback, log records, launchers, schedulers, shells, bars, rulers.
_OTHER_OUTPUT = lazy.compile(
    rf"""(?:
      .{{0,200}}Traceback\ \(most\ recent
    | (?:During\ handling\ of\ the\ above|The\ above\ exception\ was\ the\ direct)
    | \[?{_LEVEL}\b\]?\s*(?:[:|\[\]\-(]|\d\d|$)
    | \[\s*{_LEVEL}\s*\|?
    | \[?[IWEF]\d{{3,4}}\ \d\d:\d\d | \[[IWEF]\ \S
    | (?:wandb|srun|slurmstepd|sbatch|mpirun|mpiexec|prterun|ninja|make(?:\[\d+\])?|bash|sh|zsh|-bash|nohup|ray|kubectl|docker|npm|pip|conda)\s?:(?:\s|$)
    | \S{{0,200}}?[\w)]\.sh:\ line\ \d | /bin/\w+:
    | (?:Exception|Error)\ (?:ignored\ in|in\ thread|in\ atexit|in\ sys) | Exception\ raised\ from\ .{{0,80}}\ at\s
    | Fatal\ Python\ error | Current\ thread\ 0x | Call\ stack:$ | Original\ exception\ was: | Thread\ 0x | Extension\ modules: | Process\ \w+[-_]\d+
    | terminate\ called | (?:Killed|Aborted|Terminated|Hangup)(?:\ \(core|$|\s*[:/]) | (?:Segmentation\ fault|Bus\ error)
    | \{{['"]?[\w/]+['"]?:\s(?!.{{0,300}}\b(?:Value|ClassLabel|Sequence|List)\() | \[\{{['"]
    | ={{8,}} | -{{12,}}$ | \*{{8,}} | [╭┌╔+]\s?[─═-]{{8,}}
    | \$\s\S | \^C | `{{3}} | ["']{{3}}$ | PS\ [A-Z]:\\.{{0,200}}> | \[[\w.-]+@[\w.-]+\ .{{0,80}}\][$\#] | (?:\(?[\w-]{{1,40}}\)?\s|\([\w-]{{1,40}}\))?[\w.-]{{1,64}}@[\w.-]{{1,64}}:.{{0,80}}[$#] | >>>\s | (?:In|Out)\s?\[\d*\]: | Cell\ In
    | \s*warnings\.warn\( | \S{{1,300}}\.py:\d+:\s\w*Warning | \w*Warning:\s
    | \s*File\ "[^"]{{1,500}}",\ line\ \d
    | \S{{1,200}}\sFAILED$ | Root\ Cause\ \(first | Failures:$ | failed\ \(exitcode | Sending\ process\ \d
    | Finished\ |Exiting\ |Shutting\ down|Cleaning\ up|Job\ |Uploading\ |Saving\ |Starting\ |Training\ completed
    | \[\d+/\d+\]\s | Epoch[\s:\[]+\d | [Ss]tep[\s:=\[]+\d
    | \[repeated\ \d+x\ across | \.{{3}}\ \d+\ more | NOTE:\ Redirects
    | \d+\ frames?$ | frame\ \#\d+:\s | Set\ the\ environment\ variable\ HYDRA_FULL_ERROR
    )""",
    re.VERBOSE,
)
NEW_EXCEPTION = lazy.compile(
    r"(?:[A-Za-z_]\w*\.)+_*[A-Z]\w*(?:\([\w.]+\))?(?::\s|:?$)"
    r"|[A-Z]\w*(?:Error|Exception|Failure|Interrupt|Exit|Timeout|Expired|Unsupported)(?:\([\w.]*\))?(?::\s|:?$)"
)
"""A new exception on a line of its own, with its type named in full or by its usual ending."""
# A message continues after an empty line with one of these: lists, indented blocks, quoted text.
_CONTINUATION = lazy.compile(
    r"\s|[-*\[('\"`•\d]|[a-z]|(?:Thrown|Set\ the|Original|Possible|Please|If\ you|Or|Note|See|For|You|To)\b"
)
# Code that was pasted below the log: no message continues with it.
_CODE = lazy.compile(
    r"(?:async\ )?def\ \w+\(|class\ \w+\s?[(:]|from\ [\w.]+\ import\ |import\ [\w., ]{1,200}$|@\w+"
    r"|(?:for|with|if|while|try)\b.{0,200}:$|[A-Za-z_][\w.]*(?:\[.{0,80}\])?\ =\ \S|[a-z_][\w.]*\(.{0,300}\)$"
    r"|export\ \w+=|\w+:\ +\S{1,80}$"
)


def message_end(lines: list[Line], start: int) -> int:
    """Index after the last line of the message whose first line is ``lines[start]`` (lines of one stream)."""
    first = lines[start]
    at, stop = start + 1, min(len(lines), start + MESSAGE_LINES)
    while at < stop:
        line = lines[at]
        if line.stamped != first.stamped or _is_other_output(line.text):
            break
        if line.text.strip():
            at += 1
            continue
        ahead = at + 1  # a message may contain at most two empty lines in a row
        while ahead < stop and not lines[ahead].text.strip() and ahead - at < 2:
            ahead += 1
        if ahead >= stop or not _continues(lines[at - 1].text, lines[ahead], first):
            break
        at = ahead
    while at > start + 1 and not lines[at - 1].text.strip():
        at -= 1
    return at


def is_type_name(type_: str) -> bool:
    """Whether a name may be an exception: it begins with a capital, or is dotted (``else:`` and ``loss: Tensor = …`` are code)."""
    last = type_.rpartition(".")[2]
    return "." in type_ or last[:1].isupper() or last in ("timeout", "gaierror", "error", "herror")


def _is_other_output(text: str) -> bool:
    return bool(text) and bool(
        _OTHER_OUTPUT.match(text) or NEW_EXCEPTION.match(text) or ("%|" in text and BAR.match(text))
    )


def _continues(before: str, line: Line, first: Line) -> bool:
    """Whether a message goes on with this line after an empty one; ``before`` is its last line above."""
    if line.stamped != first.stamped or _is_other_output(line.text) or _CODE.match(line.text):
        return False
    return before.rstrip().endswith((":", ",", "--")) or bool(_CONTINUATION.match(line.text))
