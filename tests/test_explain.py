"""What `explain` says of a confidence and of the order is what the ranking computed."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from kb.samples import below
from kb.text.catalog import languages
from tests.conftest import Draw
from troubleshooter.cli.knowledge import explain
from troubleshooter.cli.why import placed
from troubleshooter.explain import placing
from troubleshooter.pipeline import Diagnoser
from troubleshooter.ranked import RankKey
from troubleshooter.read.sources import from_text
from troubleshooter.tried import sources_of
from troubleshooter.weights import Reason

ROOT = Path(__file__).parents[1]
ENTRIES = ROOT / "entries"
LOG = ROOT / "tests" / "logs" / "gemma3-eval.log"
RESUMED = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB\n"


def test_the_steps_add_up_to_the_confidence_of_the_report(tool: Diagnoser, draw: Draw) -> None:
    reasons: set[str] = set()
    for id_, sample in draw(list(below(ENTRIES, "match")), 300):
        sources = sources_of(sample)
        answer = placing(id_, tool.observe(sources), tool.knowledge).answer
        if answer is None:
            continue
        value = 0.0
        for step in answer.score.steps:
            if step.how in ("at-most", "at-least"):
                assert (value > step.by) == (step.how == "at-most")
                value = step.by
            else:
                value = value * step.by if step.how == "times" else value + step.by
            reasons.add(step.reason)
        assert value == pytest.approx(answer.confidence)
        shown = [d for d in tool.report(sources, top=99).diagnoses if d.id == id_]
        assert [d.score for d in shown] == [round(value, 3)]
    assert len(reasons) > 5


def test_the_weights_are_printed_as_a_sum(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("cache-object-float", LOG, [], "en") == 0
    assert "confidence 0.99 = 0.93 decisive + 0.06 support + 0.04 versions, at most 0.99" in capsys.readouterr().out
    assert explain("cache-object-float", LOG, [], "zh") == 0
    assert "置信度 0.99 = 0.93 决定性症状 + 0.06 佐证 + 0.04 版本，至多 0.99" in capsys.readouterr().out


def test_an_answer_below_another_one_says_which_part_of_the_order_decided(tool: Diagnoser) -> None:
    seen = tool.observe([from_text(RESUMED + MEMORY)])
    ids = [d.id for d in tool.report([from_text(RESUMED + MEMORY)]).diagnoses]
    assert len(ids) > 1
    first, second = ids[:2]
    assert placing(first, seen, tool.knowledge).first is None
    found = placing(second, seen, tool.knowledge)
    assert found.first is not None
    assert found.first.candidate.id == first
    assert found.decided_by in RankKey._fields
    assert any(line.startswith(f"{first} comes first: ") for line in placed(found, "en"))
    assert any(line.startswith(f"{first} 排在前面：") for line in placed(found, "zh"))


def test_an_entry_after_whose_failure_the_run_went_on_says_so(tool: Diagnoser) -> None:
    records = "".join(f"{{'loss': {2 - n / 20}, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': {n / 10}}}\n" for n in range(1, 15))
    found = placing("cache-object-float", tool.observe([from_text(RESUMED + records)]), tool.knowledge)
    assert (found.answer, found.dropped) == (None, "went-on")
    assert next(placed(found, "en")) == "It is not an answer: the run went on after it."
    assert next(placed(found, "zh")).startswith("它不是答案：")


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("part", [*RankKey._fields, None])
def test_every_part_of_the_order_has_words(part: str | None, lang: str) -> None:
    from kb.text.catalog import Section

    assert Section("weights").find(f"by-{part}", lang)


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_of_a_step_has_words(reason: str, lang: str) -> None:
    from kb.text.catalog import Section

    assert Section("weights").find(f"step-{reason}", lang)
