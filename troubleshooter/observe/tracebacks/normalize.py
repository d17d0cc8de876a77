"""Rewrites lines before tracebacks are read: removes what loggers, terminals, word processors and writers added.

The number of lines stays the same, so an index into the rewritten lines is also an index into the log's lines.
"""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.observe.tracebacks.edits import LineEdits
from troubleshooter.observe.tracebacks.frames import HEADER, PYTHON_FRAME
from troubleshooter.observe.tracebacks.groups import RAIL, strip_group_rails
from troubleshooter.observe.tracebacks.groups import TOP as GROUP_TOP
from troubleshooter.observe.tracebacks.messages import ALONE
from troubleshooter.read.line import Line

MAX_PREFIX_CHARACTERS = 160
"""The longest prefix that a logger puts before each line of a traceback."""
PREFIX_GAP_LINES = 3
"""At most this many lines in a row may lack a logger's prefix. The first frame, too, must show the prefix within as
many lines."""
SHORT_PASTE_LINES = 5
"""A paste of at most this many lines may be a message with its writer's words around it."""

_FRAME = '  File "'
_BARE_FRAME = 'File "'  # a page that folds blanks took its indent
# Numbers that differ from line to line (times, process ids); the line of code that logs stays as it is.
_COUNTED = lazy.compile(r"(?<!\.py:)(?<!\d)\d+")
_RANK = lazy.compile(r"(?i)\brank[ =:]{0,2}(\d{1,5})\b")
_BROKEN_PATH = lazy.compile(r"\s*File \"[^\"]{1,1000}$")
_BROKEN_FRAME = lazy.compile(r"\s*File \"[^\"]{1,1000}\"(?:,(?: line(?: \d{1,9})?)?)?,?\s*$")
_REST_OF_FRAME = lazy.compile(r"\s*(?:line )?(?:\d{1,9})?,? ?in [<\w]")
# Windows PowerShell sets its own account of a native program's first line on standard error below that line.
_POWERSHELL = lazy.compile(r"At (?:line:\d|[^:]{0,3}:?[^:]{1,400}:\d)\S* char:\d")
_POWERSHELL_END = "+ FullyQualifiedErrorId"
_TYPOGRAPHIC = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\uff02": '"'})
_MARKUP = ("*", "`")
_WORDS_AROUND = lazy.compile(r"[\s>*_`#\-\"'\u201c\u2018(]+")
_EXCEPTION_IN_SENTENCE = lazy.compile(r"(?<=:\s)(?=(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\(\w+\))?:\s\S)")
# A record of the level of errors may be all that was pasted of a traceback that a logger printed.
_ERROR_RECORD = lazy.compile(
    r"(?:\S{1,60}\s){0,6}?\[?(?:ERROR|CRITICAL|FATAL)\b(?:[\s:|\[\]()\d,-]|[\w./]{1,60}(?=[:\]|]|\s-)){0,30}?(?<=[\s\]:|])(?P<exception>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\(\w+\))?:\s\S)"
)


def normalize(lines: list[Line]) -> list[Line]:
    """The lines of one stream as the traceback reader expects them; the given list itself if nothing was changed."""
    return normalize_traceback_lines(lines).lines


def normalize_traceback_lines(lines: list[Line]) -> LineEdits:
    """The same, with the rule that changed each line."""
    edits = LineEdits(lines)
    _strip_common_indent(edits)
    prefixed = []  # indexes of lines that may stand behind a logger's prefix
    for at, line in enumerate(edits.lines):
        text = line.text
        if text[:1] in _MARKUP and (bare := _without_markup(text)) is not None:
            edits.replace(at, bare, "markup")
        elif "File " in text or "Traceback (most" in text:
            if "File \u201c" in text or "File \u201d" in text or "File \u201e" in text:
                edits.replace(at, text.translate(_TYPOGRAPHIC), "typographic quotes")
            elif 'File "' in text and text.count('"') == 1 and _BROKEN_PATH.match(text):
                _rejoin_path(edits, at)
            elif 'File "' in text and ", in " not in text and _BROKEN_FRAME.match(text):
                _rejoin_frame(edits, at)
            elif "Traceback (most" in text and any(map(_is_powershell, edits.lines[at + 1 : at + 3])):
                _remove_powershell(edits, at)
            elif text[:1] not in " T" or not text.lstrip().startswith(("Traceback", "File ")):
                prefixed.append(at)
    done = 0
    for at in prefixed:
        if at >= done and (pattern := _logger_prefix(edits.lines, at)) is not None:
            done = _strip_prefix(edits, at, pattern)
    strip_group_rails(edits)
    return edits


def strip_words_around(lines: list[Line]) -> list[Line]:
    """The lines of a short paste without what its writer set before an exception, if no line begins with one.

    That is an indent, markup (``**``, ``> ``, backticks), words ("I get this error: ") or the head of a log record of the
    level of errors.
    """
    if any(ALONE.match(line.text) or 'File "' in line.text or HEADER in line.text for line in lines):
        return lines
    edits = LineEdits(lines)
    for at, line in enumerate(lines):
        around = _WORDS_AROUND.match(line.text)
        bare = line.text[around.end() :].rstrip(" *_`#") if around else line.text
        if not ALONE.match(bare):
            if found := _EXCEPTION_IN_SENTENCE.search(bare):
                bare = bare[found.start() :]
            elif found := _ERROR_RECORD.match(line.text):
                bare = line.text[found.start("exception") :]
        if bare != line.text and ALONE.match(bare):
            edits.replace(at, bare, "words around")
    return edits.lines


def _strip_common_indent(edits: LineEdits) -> None:
    """Take off an indent that all lines share, as a block of code in a text has it."""
    depth = 0
    for line in edits.lines:
        text = line.text
        if indent := len(text) - len(text.lstrip(" ")):
            depth = min(depth or indent, indent)
        elif text:
            return
    if depth < 2 or not any(HEADER in line.text or ALONE.match(line.text[depth:]) for line in edits.lines):
        return
    for at, line in enumerate(edits.lines):
        edits.replace(at, line.text[depth:], "indent")


def _without_markup(text: str) -> str | None:
    """An exception without the ``**`` or backticks that its writer set around it or its type; None for another line."""
    mark = "**" if text.startswith("**") else "`"
    inner, closed, rest = text.strip().removeprefix(mark).partition(mark)
    if not closed or not (not rest or rest.startswith(":") or inner.endswith(":")):
        return None
    bare = inner + rest
    return bare if ALONE.match(bare) else None


def _is_powershell(line: Line) -> bool:
    return line.text.startswith("At ") and _POWERSHELL.match(line.text) is not None


def _rejoin_path(edits: LineEdits, at: int) -> None:
    """Put a frame on one line whose path a terminal broke."""
    text = edits.lines[at].text
    for ahead in range(at + 1, min(at + 4, len(edits.lines))):
        text += edits.lines[ahead].text.lstrip()
        if '"' in edits.lines[ahead].text:
            if PYTHON_FRAME.match(text):
                edits.replace(at, text, "wrapped path")
                for part in range(at + 1, ahead + 1):
                    edits.replace(part, "", "wrapped path")
            return


def _rejoin_frame(edits: LineEdits, at: int) -> None:
    """Put a frame on one line that a terminal broke behind its path."""
    if at + 1 < len(edits.lines) and _REST_OF_FRAME.match(edits.lines[at + 1].text):
        first, rest = edits.lines[at].text.rstrip(), edits.lines[at + 1].text.lstrip()
        for text in (f"{first} {rest}", first + rest):
            if (found := PYTHON_FRAME.match(text)) and found["function"]:
                edits.replace(at, text, "wrapped frame")
                edits.replace(at + 1, "", "wrapped frame")
                return


def _remove_powershell(edits: LineEdits, at: int) -> None:
    """Empty the lines that PowerShell set below the line ``at``."""
    for last in range(at + 1, min(at + 9, len(edits.lines))):
        if _POWERSHELL_END in edits.lines[last].text:
            for part in range(at + 1, last + 1):
                edits.replace(part, "", "PowerShell")
            return


def _logger_prefix(lines: list[Line], at: int) -> re.Pattern[str] | None:
    """The prefix before a traceback's header, if the frame below it has the same one but for numbers."""
    text = lines[at].text
    start = text.find(GROUP_TOP)
    if start < 0:
        start = text.find("Traceback (most")
    if start < 0 and (start := text.find(_FRAME)) < 0:
        start = text.find(_BARE_FRAME)
    head = text[:start]
    if not 0 < start <= MAX_PREFIX_CHARACTERS or not head.strip() or RAIL.match(head):
        return None
    begin = _COUNTED.split(head, 1)[0]
    following = lines[at + 1 : at + 1 + PREFIX_GAP_LINES]
    below = [line for line in following if _BARE_FRAME in line.text and line.text.startswith(begin)]
    if not below:  # the usual case; to compile an expression takes longer than to read the lines
        return None
    pattern = re.compile(_COUNTED.sub(r"\\d+", re.escape(head)).replace("\\ ", " "))
    for line in below:
        found = pattern.match(line.text)
        if found and line.text.startswith((_FRAME, _BARE_FRAME, "  | " + _FRAME), found.end()):
            return pattern
    return None


def _strip_prefix(edits: LineEdits, at: int, pattern: re.Pattern[str]) -> int:
    """Take a prefix off the lines from ``at`` on, to where it is missing for a while; the index of that line."""
    missing = 0
    while at < len(edits.lines) and missing <= PREFIX_GAP_LINES:
        text = edits.lines[at].text
        found = pattern.match(text) or (pattern.match(text + " ") if text else None)
        if found:
            missing = 0
            rank = _RANK.search(found.group())
            edits.replace(at, text[found.end() :], "logger prefix", int(rank[1]) if rank else None)
            edits.lines[at].stamped = True  # a message ends where the prefix does
        else:
            missing += 1
        at += 1
    return at
