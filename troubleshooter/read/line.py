"""A line as a person saw it: text without prefix and decoration, and where it stands in the raw input."""

from __future__ import annotations

from kb import lazy
from troubleshooter.lean import dataclass
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
        if "&" in text and ("&quot;" in text or "&#39;" in text or "&lt;" in text or "&#x27;" in text):
            for name, character in _ENTITIES:
                text = text.replace(name, character)
        for part in _parts(text):
            rest, own, own_rank, stamped = strip(part)
            rank_ = own_rank if own_rank is not None else rank
            found.append(Line(rest.rstrip(), number, own or stream, rank_, file, stamped))
    return found


def _parts(text: str) -> list[str]:
    """The lines that stand on one: written as a string's escapes, or glued by two ranks that wrote at once."""
    if "\\n" in text and ("Traceback (most recent call last):\\" in text or '\\n  File \\"' in text):
        return _unescaped(text)
    if text.count("[rank") > 1:
        parts = [part for part in _RANKS.split(text) if part]
        return [part for n, part in enumerate(parts) if n == len(parts) - 1 or not _ONLY_RANK.match(part)]
    if "Traceback (most" in text and (glued := _GLUED.match(text)):
        return [glued["before"], glued["header"]]
    return [text]


# What a page's source shows; "&amp;" last, so that nothing is taken twice.
_ENTITIES = (
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
)
_RANKS = lazy.compile(r"(?=\[rank\d{1,5}\]:)")
_ONLY_RANK = lazy.compile(r"\[rank\d{1,5}\]:\s?$")
_GLUED = lazy.compile(r"(?P<before>.{0,20000}?[\w.)\]!?])(?P<header>Traceback \(most recent call last\):?)\s*$")
_STRING_END = lazy.compile(r'(?<!\\)"')


def _unescaped(text: str) -> list[str]:
    """A stack that was written as one string (torch elastic, VS Code, loggers of JSON): its lines."""
    head, mark, tail = text.partition("Traceback (most recent call last):")
    body = mark + tail
    if '\\"' in body:
        body = _STRING_END.split(body, 1)[0]  # the JSON string ends at the first quote that is not escaped
        body = body.replace('\\"', '"')
    parts = body.replace("\\r\\n", "\\n").replace("\\t", "\t").replace("\\'", "'").split("\\n")
    # The last part ends with what stood around it.
    parts[-1] = parts[-1].split('", "')[0].rstrip('"},')
    return [head, *parts] if head.strip() else parts
