"""Which versions an answer uses: those that the log prints, or those of the environment that --env names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.report.terminal import show

LOG = """Traceback (most recent call last):
  File "/x/lib/python3.11/site-packages/transformers/trainer.py", line 4020, in training_step
    loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
TypeError: MyTrainer.compute_loss() got an unexpected keyword argument 'num_items_in_batch'
"""


@pytest.mark.parametrize(
    ("environment", "printed", "lang", "told"),
    [
        ({"transformers": "4.57.6"}, "", "en", "the versions installed in --env are in the affected range"),
        ({"transformers": "4.40.0"}, "", "en", "the versions installed in --env are outside the affected range"),
        ({"transformers": "4.57.6"}, "", "zh", "--env 中安装的版本在受影响范围内"),
        ({}, "transformers==4.57.6\n", "en", "the log's versions are in the affected range"),
    ],
)
def test_whose_versions_they_are(
    tool: Diagnoser, capsys: Any, environment: Mapping[str, str], printed: str, lang: str, told: str
) -> None:
    asked = Diagnoser(tool.knowledge, tool.scanner, environment=environment)
    report = asked.report([from_text(printed + LOG)], lang=lang)
    assert report.diagnoses[0].id == "compute-loss-num-items"
    show(report)
    assert told in " ".join(capsys.readouterr().out.split())
    assert report.diagnoses[0].versions.get("from") == ("environment" if environment else None)
