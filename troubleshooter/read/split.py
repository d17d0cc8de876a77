"""Turn a raw line into the lines that a person saw: decode it, split it if it holds several lines, remove the prefix."""

from __future__ import annotations

from troubleshooter.read.embedded import split_embedded_lines
from troubleshooter.read.line import Line
from troubleshooter.read.prefix import strip_prefix
from troubleshooter.read.templates import MAX_LINE_BYTES, LineTemplate, LineTemplates, digits_matter
from troubleshooter.read.text import LINE_LIMIT, texts

# How the source of a web page spells characters; "&amp;" last, so that nothing is replaced twice.
_ENTITIES = (
    ("&quot;", '"'), ("&#34;", '"'), ("&#39;", "'"), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
)  # fmt: skip


def split_line(
    raw: bytes, number: int, file: int = 0, stream: str = "", rank: int | None = None,
    templates: LineTemplates | None = None,
) -> list[Line]:  # fmt: skip
    """The lines on one raw line. ``stream`` and ``rank`` are used if the line itself names none. With ``templates``, a
    line is split in the same way as the first line of its template."""
    if templates is None or len(raw) > MAX_LINE_BYTES:
        return _taken_apart(raw, number, file, stream, rank)
    template = templates.of(raw)
    if template.prefix_characters < 0:
        found = _taken_apart(raw, number, file, stream, rank)
        if not template.seen:
            template.seen = True
            _learn_prefix(template, raw, found)
        return found
    text = raw.decode("utf-8", "replace")
    if template.names_stream:
        rest, own, own_rank, stamped = strip_prefix(text)
        line = Line(rest.rstrip(), number, own or stream, rank if own_rank is None else own_rank, file, stamped)
    else:
        line = Line(text[template.prefix_characters :].rstrip(), number, stream, rank, file, template.stamped)
    line.template = template
    return [line]


def _taken_apart(raw: bytes, number: int, file: int, stream: str, rank: int | None) -> list[Line]:
    found = []
    for text in texts(raw[:LINE_LIMIT]):
        if "&" in text and any(name in text for name, _ in _ENTITIES):
            for name, character in _ENTITIES:
                text = text.replace(name, character)
        for part in split_embedded_lines(text):
            rest, own, own_rank, stamped = strip_prefix(part)
            line_rank = rank if own_rank is None else own_rank
            found.append(Line(rest.rstrip(), number, own or stream, line_rank, file, stamped))
    return found


def _learn_prefix(template: LineTemplate, raw: bytes, found: list[Line]) -> None:
    """Remember how the first line of a template was split, if only a prefix was removed from it."""
    if len(found) != 1 or digits_matter(raw):
        return
    text = raw.decode("utf-8", "replace")
    rest, own, own_rank, stamped = strip_prefix(text)
    if rest.rstrip() == found[0].text:
        template.prefix_characters = len(text) - len(rest)
        template.names_stream = own != "" or own_rank is not None
        template.stamped = stamped
        found[0].template = template
