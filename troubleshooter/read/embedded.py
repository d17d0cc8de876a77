"""Splits a line that holds several: a record of JSON, a string with escapes, a paste that lost its line ends, ranks and
metric records that were written at once."""

from __future__ import annotations

import json

from kb import lazy

_HEADER = "Traceback (most recent call last):"
_RANKS = lazy.compile(r"(?=\[rank\d{1,5}\]:)")
_ONLY_RANK = lazy.compile(r"\[rank\d{1,5}\]:\s?$")
_GLUED = lazy.compile(r"(?P<before>.{0,20000}?[\w.)\]!?])(?P<header>Traceback \(most recent call last\):?)\s*$")
_STRING_END = lazy.compile(r'(?<!\\)"')
# A frame within a line that lost its line ends, and the code after it.
_FRAME = lazy.compile(r"(?=File \"[^\"]{1,500}\", line \d{1,9}, in )")
_PARTS = lazy.compile(r"(?P<frame>File \"[^\"]{1,500}\", line \d{1,9}, in (?:<\w{1,40}>|\w{1,200}))\s*(?P<rest>.*)$")
_RAISED = lazy.compile(
    r"(?:^|(?<=[\s)\]'\"]))(?P<raised>(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Exit|Failure|Timeout|Expired)"
    r"(?::\s.*|\s*$))"
)
_TEXT_KEYS = ("log", "message", "msg", "textPayload", "text")
_RECORD_KEYS = frozenset(
    {"stream", "time", "timestamp", "ts", "@timestamp", "asctime", "level", "levelname", "severity", "logger", "name"}
)
_TRACEBACK_KEYS = ("exc_info", "exception", "traceback", "stack_trace", "stack", "exc_text")


def split_embedded_lines(text: str) -> list[str]:
    """Split a line that holds several lines; most lines come back unchanged."""
    if text.startswith('{"') and (found := _record(text)) is not None:
        return found
    if "\\n" in text and (_HEADER + "\\" in text or '\\n  File \\"' in text):
        return _unescaped(text)
    if text.count("[rank") > 1:
        pieces = [piece for piece in _RANKS.split(text) if piece]
        return [piece for n, piece in enumerate(pieces) if n == len(pieces) - 1 or not _ONLY_RANK.match(piece)]
    if "}{'" in text:
        return text.replace("}{'", "}\n{'").split("\n")
    if "Traceback (most" in text:
        if text.rfind(_HEADER) > 0 and (glued := _GLUED.match(text)):
            return [glued["before"], glued["header"]]
        if 'File "' in text and _HEADER in text:
            return _collapsed(text)
    return [text]


def _record(text: str) -> list[str] | None:
    """The message and the traceback of a record that a container or a logger wrote as JSON; None for other JSON."""
    if not any(f'"{key}"' in text for key in _TEXT_KEYS) or '"loss"' in text:
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):  # no JSON; nested deeper than any record
        return None
    if not isinstance(record, dict) or _RECORD_KEYS.isdisjoint(record):
        return None
    said = next((value for key in _TEXT_KEYS if isinstance(value := record.get(key), str)), None)
    if said is None:
        return None
    trace = next((value for key in _TRACEBACK_KEYS if isinstance(value := record.get(key), str) and "\n" in value), "")
    return (said.rstrip("\n") + ("\n" + trace.rstrip("\n") if trace and trace not in said else "")).split("\n")


def _unescaped(text: str) -> list[str]:
    """The lines of a stack that was written as one string, as torch elastic, VS Code and loggers of JSON do."""
    head, mark, tail = text.partition(_HEADER)
    body = mark + tail
    if '\\"' in body:
        body = _STRING_END.split(body, 1)[0]  # the JSON string ends at the first quote that is not escaped
        body = body.replace('\\"', '"')
    lines = body.replace("\\r\\n", "\\n").replace("\\t", "\t").replace("\\'", "'").split("\\n")
    # The last part still holds the text behind the string.
    lines[-1] = lines[-1].split('", "')[0].rstrip('"},')
    if len(lines) > 1 and lines[-1] in ("'", "')", "']"):  # the quote that closes what repr() wrote
        lines.pop()
    return [head, *lines] if head.strip() else lines


def _collapsed(text: str) -> list[str]:
    """The lines of a traceback that lost its line ends in a form, a chat or a title: header, frames, code, exception."""
    head, mark, tail = text.partition(_HEADER)
    frames = [piece for piece in _FRAME.split(tail) if piece.strip()]
    lines = [head, mark] if head.strip() else [mark]
    for number, frame in enumerate(frames):
        found = _PARTS.match(frame)
        if found is None:
            return [text]
        rest = found["rest"]
        raised = _RAISED.search(rest) if number == len(frames) - 1 else None
        code = rest[: raised.start()] if raised else rest
        lines.append("  " + found["frame"])
        if code.strip():
            lines.append("    " + code.strip())
        if raised:
            lines.append(raised["raised"])
    return lines
