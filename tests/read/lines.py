"""Lines as data, to be compared."""

from __future__ import annotations

from collections.abc import Iterable

from troubleshooter.read.line import Line


def lines_data(lines: Iterable[Line]) -> list[tuple[object, ...]]:
    """The text and the place of each line; its template is shared and left out."""
    return [(line.number, line.text, line.stream, line.rank, line.file, line.stamped, line.folded) for line in lines]
