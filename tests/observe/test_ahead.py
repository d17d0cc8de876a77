"""What is tried before the end of a large log changes nothing of what is found in the end."""

from __future__ import annotations

import random

import pytest

from troubleshooter import pipeline as whole
from troubleshooter.match.engine import candidates
from troubleshooter.observe.model import Observations
from troubleshooter.observe.observer import AHEAD, HITS, PART, Observer
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.read.stream import Seen, read

METRIC = "{'loss': 1.8342, 'grad_norm': 1.2718, 'learning_rate': 0.0001987, 'epoch': 0.03}\n"


def log(tool: Diagnoser, size: int) -> str:
    """A log of metrics with a line of an entry's own words here and there."""
    pick = random.Random(7)
    said = [text for text in tool.knowledge.literals if len(text) >= 12 and "\n" not in text]
    return "".join(METRIC if i % 40 else f"note {i}: {pick.choice(said)}\n" for i in range(size // len(METRIC)))


@pytest.mark.parametrize("failed", [False, True])
def test_the_report_is_the_same_without_it(tool: Diagnoser, monkeypatch: pytest.MonkeyPatch, failed: bool) -> None:
    text = log(tool, 3 << 20) + (
        "Traceback (most recent call last):\n  File \"/app/train.py\", line 3, in <module>\n    run()\n"
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n" if failed else ""
    )  # fmt: skip
    tool = Diagnoser(tool.knowledge, tool.scanner, helpers=1)  # also where there is one core
    with_it = tool.report([from_text(text)])
    told: list[int] = []

    def ahead(observations: Observations) -> None:
        told.append(len(observations.hits))

    def alone(scanner: object, given: object) -> Observer:
        return Observer(tool.scanner, ahead)

    monkeypatch.setattr(whole, "Observer", alone)
    without = tool.report([from_text(text)])
    assert with_it == without
    assert len(told) >= 2
    assert all(count >= AHEAD for count in told)


def test_what_was_given_ahead_is_not_what_is_kept(tool: Diagnoser) -> None:
    """The lines that are given are lists of their own: matching them, or more lines, change neither."""
    given: list[Observations] = []
    observer = Observer(tool.scanner, given.append)
    observer.feed(read(from_text(log(tool, 3 << 20)), 0, tool.scanner, Seen(), 0))
    sizes = [sum(map(len, part.hits.values())) for part in given]
    for part in given:
        candidates(part, tool.knowledge)
    observer.finish()
    assert [sum(map(len, part.hits.values())) for part in given] == sizes
    assert not set.intersection(*(set(part.hits) for part in given))  # each literal once


def test_few_lines_are_kept_of_many(tool: Diagnoser) -> None:
    count = 3 * PART
    observer = Observer(tool.scanner)
    observer.feed(read(from_text("CUDA out of memory. Tried to allocate 2.00 GiB\n" * count), 0, tool.scanner, Seen(), 0))
    for kept in observer.finish().hits.values():
        assert [line.number for line in kept] == [*range(1, HITS // 2 + 1), *range(count - HITS // 2 + 1, count + 1)]
