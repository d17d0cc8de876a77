"""Records of metrics that take several lines: what belongs together stays together."""

from __future__ import annotations

import pytest

from troubleshooter.observe.metric_layouts import LAYOUTS, MetricExample, MetricLayout
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text


@pytest.mark.parametrize(
    "text",
    [
        "{'eval_loss': nan,\n 'eval_runtime': 3.2,\n 'epoch': 1.0}\n{'eval_loss': nan,\n 'eval_runtime': 3.4,\n 'epoch': 2.0}\n",
        "First:\n{\n    'eval_loss': nan,\n    'epoch': 1.0\n}\nNext:\n{\n    'eval_loss': nan,\n    'epoch': 2.0\n}\n",
        '[\n  {\n   "epoch": 0.5\n  },\n  {\n   "eval_loss": NaN,\n   "epoch": 1.0\n  },\n  {\n   "eval_loss": NaN,\n   "epoch": 2.0\n  }\n]\n',
        "{'eval_loss': nan, 'epoch': 1.0},\n{'eval_loss': nan, 'epoch': 2.0},\n",
    ],
    ids=["pprint", "braces", "json", "listed"],
)
def test_one_record_over_lines(tool: Diagnoser, text: str) -> None:
    seen = tool.observe([from_text(text)])
    losses = seen.metrics["eval_loss"]
    assert [str(point.value) for point in losses] == ["nan", "nan"]
    beside = [seen.records("epoch").get((point.line.file, point.record)) for point in losses]
    assert [point and point.value for point in beside] == [1.0, 2.0]


def test_a_record_ends_with_its_brace(tool: Diagnoser) -> None:
    seen = tool.observe([from_text("{'loss': 1.5, 'grad_norm': 2.0,\n 'epoch': 0.1}\n'epoch': 3.0\n")])
    assert [point.value for point in seen.metrics["epoch"]] == [0.1]


def test_a_record_over_lines_counts_once(tool: Diagnoser) -> None:
    """Two records, not two lines, say that a run went on after an exception."""
    failure = "ValueError: the flux is gone\n"
    record = "{'loss': 1.%d,\n 'grad_norm': 0.9,\n 'reward': 0.5}\n"
    assert tool.observe([from_text(failure + record % 9)]).failures[0].role == "initiating"
    assert tool.observe([from_text(failure + record % 9 + record % 8)]).failures[0].role == "handled"


@pytest.mark.parametrize("text", ["total_loss = 0", "    running_loss = 0.0", "train_loss, seen = 0.0, 0", "loss = 0", "self.loss = 0.  # so far"])
def test_code_that_begins_a_sum_is_no_metric(tool: Diagnoser, text: str) -> None:
    assert not tool.observe([from_text(f"{text}\nfor batch in loader:\n")]).metrics


@pytest.mark.parametrize("text", ["loss = 0.0", "  train_loss               =        0.0", "step 4 train_loss = 0.0", "total_loss = 0.25"])
def test_what_a_loop_prints_is_a_metric(tool: Diagnoser, text: str) -> None:
    assert tool.observe([from_text(f"{text}\n")]).metrics


@pytest.mark.parametrize(
    "example", [pytest.param(example, id=f"{layout.name}, {example.program}") for layout in LAYOUTS for example in layout.examples]
)
def test_every_layout_is_read(tool: Diagnoser, example: MetricExample) -> None:
    metrics = tool.observe([from_text(f"{example.text}\n")]).metrics
    read = [f"{name}={','.join(f'{point.value:g}' for point in points)}" for name, points in metrics.items()]
    assert " ".join(read) == example.read


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout.patterns], ids=lambda layout: layout.name)
def test_the_patterns_of_a_layout_have_a_name_and_a_value(layout: MetricLayout) -> None:
    for example in layout.examples:
        assert layout.needs in example.text
        assert all({"name", "value"} == set(pattern.groupindex) for pattern in layout.patterns)


def test_layouts_have_names_of_their_own() -> None:
    names = [layout.name for layout in LAYOUTS]
    assert len(set(names)) == len(names)
