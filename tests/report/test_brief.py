"""The short answer: never more than three lines, never wider than asked, for every kind of answer and both languages."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.report.brief import lines

FAILURE = "Traceback (most recent call last):\n  File \"t.py\", line 1, in f\n    g()\n"
LOGS = {
    "diagnosed": FAILURE + "AttributeError: 'HybridCache' object has no attribute 'float'\n",
    "unknown": FAILURE + "QuuxError: " + "never seen " * 60 + "\n",
    "nothing": "Epoch 1 done\nall good\n",
    "stopped": FAILURE + "KeyboardInterrupt\n",
    "harmless": "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.\n",
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("kind", sorted(LOGS))
def test_at_most_three_lines_of_the_width(tool: Diagnoser, kind: str, width: int, lang: str) -> None:
    report = tool.report([from_text(LOGS[kind])], lang=lang)
    shown = lines(report, width)
    assert 1 <= len(shown) <= 3
    assert all(shown)
    assert max(map(cell_len, shown)) <= width
    assert not any("\n" in line for line in shown)


def test_what_why_and_the_first_fix(tool: Diagnoser) -> None:
    report = tool.report([from_text(LOGS["diagnosed"])])
    what, why, do = lines(report, 1000)
    found = report.diagnoses[0]
    assert what == f"{found.confidence}: {found.title} ({found.id})"
    assert why.startswith("Why: In evaluation")  # no summary: the first sentence of the cause
    assert found.cause.replace("`", "").startswith(why.removeprefix("Why: ")[:60])
    assert report.diagnoses[0].fixes[0].do in do
    assert str(found.fixes[0].shell) in do


def test_each_of_several_begins_with_its_file(tool: Diagnoser) -> None:
    report = tool.report([from_text(LOGS["nothing"], "a.log")])
    assert lines(report, 200, several=True)[0].startswith("a.log: ")
