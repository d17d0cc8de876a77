"""A line as a person saw it: text without prefix and decoration, and where it stands in the raw input."""

from __future__ import annotations

from dataclasses import dataclass

from troubleshooter.read.prefix import strip
from troubleshooter.read.text import LINE_LIMIT, texts


@dataclass(slots=True)
class Line:
    """``number`` counts raw lines from 1 in ``file`` (an index into the report's inputs); ``stream`` takes
    interleaved writers apart and is "" where nothing on the line names one."""

    text: str
    number: int
    stream: str = ""
    rank: int | None = None
    file: int = 0
    stamped: bool = False


GAP = Line("", 0)
"""Stands between lines that do not follow each other: a part of a large log was passed over."""


def lines(raw: bytes, number: int, file: int = 0, stream: str = "", rank: int | None = None) -> list[Line]:
    """The lines that a person saw on one raw line; ``stream`` and ``rank`` hold where the line itself names none."""
    found = []
    for text in texts(raw[:LINE_LIMIT]):
        for part in _unescaped(text):
            rest, own, own_rank, stamped = strip(part)
            rank_ = own_rank if own_rank is not None else rank
            found.append(Line(rest.rstrip(), number, own or stream, rank_, file, stamped))
    return found


def _unescaped(text: str) -> list[str]:
    """A stack that was written as one JSON string (torch elastic, VS Code): its lines."""
    if "\\n" in text and ("Traceback (most recent call last):\\n" in text or '\\n  File \\"' in text):
        head, mark, tail = text.partition("Traceback (most recent call last):")
        body = (mark + tail).replace('\\"', '"').replace("\\t", "\t").replace("\\'", "'")
        parts = body.split("\\n")
        # The last part ends with the JSON around it: the message ends at an unescaped quote.
        parts[-1] = parts[-1].split('", "')[0].rstrip('"},')
        return [head, *parts] if head.strip() else parts
    return [text]
