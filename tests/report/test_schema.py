"""The published JSON Schema is the one that the types make, and real reports fit it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kb.samples import below
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_path, from_text
from troubleshooter.report.schema import generated, report_schema

ROOT = Path(__file__).parents[2]
RANKS = "[rank1]: RuntimeError: CUDA out of memory\n[rank0]: RuntimeError: NCCL communicator was aborted\n"
LOGS = {
    "nothing": "epoch 1 done\n",
    "unexplained": "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nQuuxError: never seen before\n",
    "stopped": "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nKeyboardInterrupt\n",
    "not-finite": "torch==2.6.0\n{'loss': nan, 'grad_norm': inf, 'epoch': 0.1}\n" * 4,
    "ranks": RANKS,
    "probe-and-advice": "AttributeError: 'HybridCache' object has no attribute 'float'\n",
}


def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(report_schema())
    return jsonschema.Draft202012Validator(report_schema())


def test_the_committed_schema_is_the_generated_one() -> None:
    assert report_schema() == generated(), "run: python -m troubleshooter.report.schema"


@pytest.mark.parametrize("name", sorted(LOGS))
def test_reports_fit_the_schema(tool: Diagnoser, name: str) -> None:
    report = tool.report([from_text(LOGS[name])])
    validator().validate(json.loads(json.dumps(report.to_dict())))


def test_reports_on_samples_fit_the_schema(tool: Diagnoser) -> None:
    """Every hundredth sample and some healthy logs: answers with fixes, sources, probes, advice, lookalikes, metrics."""
    valid = validator()
    sources = [from_text(sample.text) for _, sample in below(ROOT / "entries", "match")][::100]
    sources += [from_path(log)[0] for log in sorted((ROOT / "tests/healthy").rglob("*.log"))[::10]]
    assert len(sources) > 40
    for source in sources:
        valid.validate(json.loads(json.dumps(tool.report([source]).to_dict())))


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (lambda report: report.update(surprise=1), "surprise"),
        (lambda report: report["diagnoses"][0].update(confidence="sure"), "sure"),
        (lambda report: report["input"].pop("lines"), "lines"),
        (lambda report: report["diagnoses"][0]["fixes"][0].update(risk="none"), "none"),
    ],
)
def test_the_schema_is_closed(tool: Diagnoser, change: Any, refused: str) -> None:
    report = json.loads(json.dumps(tool.report([from_text(LOGS["probe-and-advice"])]).to_dict()))
    valid = validator()
    assert valid.is_valid(report)
    change(report)
    assert any(refused in error.message for error in valid.iter_errors(report))
