"""Lines mended before tracebacks are read: record prefixes on every line, typographic quotes, wrapped paths, rails, marks of
a text around an exception.

All of them keep the number of lines, so that a place in the mended lines is one in the log.
"""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.observe import layouts
from troubleshooter.read.line import Line

PREFIX = 160
"""Characters of a prefix that a logger puts before each line of a traceback."""
NEAR = 3
"""Lines below a header within which its first frame shows whether both stand behind the same prefix."""

_FRAME = '  File "'
_BARE_FRAME = 'File "'  # a page that folds blanks took its indent
_GROUP = "  + Exception Group Traceback (most"
# Numbers that differ from line to line (times, process ids); the line of code that logs stays as it is.
_COUNTED = lazy.compile(r"(?<!\.py:)(?<!\d)\d+")
_RANK = lazy.compile(r"(?i)\brank[ =:]{0,2}(\d{1,5})\b")
_WRAPPED = lazy.compile(r"\s*File \"[^\"]{1,1000}$")
_BROKEN = lazy.compile(r"\s*File \"[^\"]{1,1000}\"(?:,(?: line(?: \d{1,9})?)?)?,?\s*$")
_BROKEN_REST = lazy.compile(r"\s*(?:line )?(?:\d{1,9})?,? ?in [<\w]")
# Windows PowerShell sets its own account of a native program's first line on standard error below that line.
_POWERSHELL = lazy.compile(r"At (?:line:\d|[^:]{0,3}:?[^:]{1,400}:\d)\S* char:\d")
_POWERSHELL_END = "+ FullyQualifiedErrorId"
_TYPOGRAPHIC = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\uff02": '"'})


SHORT = 5
"""Lines at most of a paste that is a message with what its writer set around it."""
_MARKED = ("*", "`")
_SET_AROUND = lazy.compile(r"[\s>*_`#\-\"'\u201c\u2018(]+")
_NAMED = lazy.compile(r"(?<=:\s)(?=(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\(\w+\))?:\s\S)")


def mend(lines: list[Line]) -> list[Line]:
    """The lines of one stream as a traceback's reader expects them; the list itself where nothing is to mend."""
    out = lines = _dedented(lines)
    suspects = []
    for at, line in enumerate(lines):
        text = line.text
        if text[:1] in _MARKED and (bare := _unmarked(text)) is not None:
            out = _put(out, lines, at, bare)
        elif "File " in text or "Traceback (most" in text:
            if "File \u201c" in text or "File \u201d" in text or "File \u201e" in text:
                out = _put(out, lines, at, text.translate(_TYPOGRAPHIC))
            elif 'File "' in text and text.count('"') == 1 and _WRAPPED.match(text):
                out = _unwrapped(out, lines, at)
            elif 'File "' in text and ", in " not in text and _BROKEN.match(text):
                out = _rejoined(out, lines, at)
            elif "Traceback (most" in text and any(_powershell(line) for line in lines[at + 1 : at + 3]):
                out = _without_powershell(out, lines, at)
            elif text[:1] not in " T" or not text.lstrip().startswith(("Traceback", "File ")):
                suspects.append(at)
    done = 0
    for at in suspects:
        if at >= done and (pattern := _prefix(out, at)) is not None:
            out, done = _stripped(out, lines, at, pattern)
    return ungrouped(out)


def _dedented(lines: list[Line]) -> list[Line]:
    """Lines that are indented as a whole, as a block of code in a text is, without that indent."""
    depth = 0
    for line in lines:
        text = line.text
        if own := len(text) - len(text.lstrip(" ")):
            depth = min(depth or own, own)
        elif text:
            return lines
    if depth < 2 or not any(layouts.HEADER in line.text or layouts.ALONE.match(line.text[depth:]) for line in lines):
        return lines
    out = lines
    for at, line in enumerate(lines):
        out = _put(out, lines, at, line.text[depth:])
    return out


def _unmarked(text: str) -> str | None:
    """A line whose writer set off what ended the run, all of it or its type: without the marks."""
    mark = "**" if text.startswith("**") else "`"
    inner, closed, rest = text.strip().removeprefix(mark).partition(mark)
    if not closed or not (not rest or rest.startswith(":") or inner.endswith(":")):
        return None
    bare = inner + rest
    return bare if layouts.ALONE.match(bare) else None


def _powershell(line: Line) -> bool:
    return line.text.startswith("At ") and _POWERSHELL.match(line.text) is not None


def quoted(lines: list[Line]) -> list[Line]:
    """The lines of a short paste; where none begins with an exception, those that name one behind a blank, marks of a text
    (``**``, ``> ``, backticks) or words ("I get this error: ") begin with it."""
    if any(layouts.ALONE.match(line.text) or 'File "' in line.text or layouts.HEADER in line.text for line in lines):
        return lines
    out = lines
    for at, line in enumerate(lines):
        around = _SET_AROUND.match(line.text)
        bare = line.text[around.end() :].rstrip(" *_`#") if around else line.text
        if not layouts.ALONE.match(bare) and (named := _NAMED.search(bare)):
            bare = bare[named.start() :]
        if bare != line.text and layouts.ALONE.match(bare):
            out = _put(out, lines, at, bare)
    return out


def _put(out: list[Line], lines: list[Line], at: int, text: str, rank: int | None = None) -> list[Line]:
    """The lines with another text at one place; the caller's own list is never changed."""
    if out is lines:
        out = list(lines)
    line = out[at]
    out[at] = Line(text, line.number, line.stream, line.rank if rank is None else rank, line.file, line.stamped)
    return out


def _unwrapped(out: list[Line], lines: list[Line], at: int) -> list[Line]:
    """A frame whose path a terminal broke: its parts on one line."""
    text = out[at].text
    for ahead in range(at + 1, min(at + 4, len(out))):
        text += out[ahead].text.lstrip()
        if '"' in out[ahead].text:
            if layouts.PLAIN.match(text):
                out = _put(out, lines, at, text)
                for gone in range(at + 1, ahead + 1):
                    out = _put(out, lines, gone, "")
            break
    return out


def _rejoined(out: list[Line], lines: list[Line], at: int) -> list[Line]:
    """A frame that a terminal broke behind its path: both parts on one line."""
    if at + 1 < len(out) and _BROKEN_REST.match(out[at + 1].text):
        first, rest = out[at].text.rstrip(), out[at + 1].text.lstrip()
        for text in (f"{first} {rest}", first + rest):
            if (found := layouts.PLAIN.match(text)) and found["function"]:
                return _put(_put(out, lines, at, text), lines, at + 1, "")
    return out


def _without_powershell(out: list[Line], lines: list[Line], at: int) -> list[Line]:
    """The lines without what PowerShell says of the line ``at``."""
    for last in range(at + 1, min(at + 9, len(out))):
        if _POWERSHELL_END in out[last].text:
            for gone in range(at + 1, last + 1):
                out = _put(out, lines, gone, "")
            break
    return out


def _prefix(lines: list[Line], at: int) -> re.Pattern[str] | None:
    """What stands before a traceback's header and, numbers aside, before the frame below it: a logger's prefix."""
    text = lines[at].text
    place = text.find(_GROUP)
    if place < 0:
        place = text.find("Traceback (most")
    if place < 0 and (place := text.find(_FRAME)) < 0:
        place = text.find(_BARE_FRAME)
    head = text[:place]
    if not 0 < place <= PREFIX or not head.strip() or layouts.GROUP_LINE.match(head):
        return None
    begin = _COUNTED.split(head, 1)[0]
    below = [line for line in lines[at + 1 : at + 1 + NEAR] if _BARE_FRAME in line.text and line.text.startswith(begin)]
    if not below:  # as a rule: to compile an expression takes longer than to read the lines
        return None
    pattern = re.compile(_COUNTED.sub(r"\\d+", re.escape(head)).replace("\\ ", " "))
    for line in below:
        found = pattern.match(line.text)
        if found and line.text.startswith((_FRAME, _BARE_FRAME, "  | " + _FRAME), found.end()):
            return pattern
    return None


def _stripped(out: list[Line], lines: list[Line], at: int, pattern: re.Pattern[str]) -> tuple[list[Line], int]:
    """The lines from ``at`` on without the prefix, to where it is missing for a while; and that place."""
    missing = 0
    while at < len(out) and missing <= NEAR:
        text = out[at].text
        found = pattern.match(text) or (pattern.match(text + " ") if text else None)
        if found:
            missing = 0
            rank = _RANK.search(found.group())
            out = _put(out, lines, at, text[found.end() :], int(rank[1]) if rank else None)
            out[at].stamped = True  # a message ends where the prefix does
        else:
            missing += 1
        at += 1
    return out, at


def ungrouped(lines: list[Line]) -> list[Line]:
    """The lines with the rails of exception groups (``  | ``) taken off."""
    if not any("Exception Group Traceback" in line.text for line in lines):
        return lines
    out, inside = [], False
    for line in lines:
        text = line.text
        if layouts.GROUP_TOP.match(text):
            inside, text = True, layouts.HEADER + ":"
        elif inside:
            if layouts.GROUP_RULE.match(text):
                text = ""
            elif found := layouts.GROUP_LINE.match(text):
                text = found["text"].lstrip("|") if found["text"].startswith("|") else found["text"]
            else:
                inside = not text.strip()
        out.append(Line(text, line.number, line.stream, line.rank, line.file, line.stamped))
    return out
