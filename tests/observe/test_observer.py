"""What is kept of many lines stays bounded."""

from __future__ import annotations

from troubleshooter.observe.observer import MAX_LINES_PER_LITERAL, PART_LINES, Observer
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.read.stream import read


def test_few_lines_are_kept_of_many(tool: Diagnoser) -> None:
    count = 3 * PART_LINES
    observer = Observer(tool.scanner)
    observer.feed(read(from_text("CUDA out of memory. Tried to allocate 2.00 GiB\n" * count), 0, tool.scanner))
    for kept in observer.finish().hits.values():
        assert [line.number for line in kept] == [*range(1, MAX_LINES_PER_LITERAL // 2 + 1), *range(count - MAX_LINES_PER_LITERAL // 2 + 1, count + 1)]
