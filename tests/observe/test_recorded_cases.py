"""Every recorded traceback, laid out in twelve shapes, is read: type, message, innermost frame."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text


def test_recorded_cases_are_read_in_every_shape(tool: Diagnoser, cases: Path) -> None:
    render, observe = importlib.import_module("render"), importlib.import_module("observe")
    recorded = [json.loads(line) for line in (cases / "dev.jsonl").read_text(encoding="utf-8").splitlines()]
    recorded = [c for c in recorded if c["kind"] == "traceback" and c["exception"]]
    missed = []
    for shape in render.SHAPES:
        for case in recorded:
            observed = tool.observe([from_text(render.render(case, shape))])
            report = {
                "failures": [
                    {
                        "exception": f.exception,
                        "message": f.message,
                        "frames": [{"file": x.file, "line": x.line} for x in f.frames],
                    }
                    for f in observed.failures
                ]
            }
            if what := observe.seen(case, shape, report):
                missed.append(f"{shape} {case['id']}: {what}")
    assert len(missed) <= 0.01 * len(recorded) * len(render.SHAPES), "\n".join(missed[:20])
