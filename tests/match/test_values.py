"""Conditions on what the hook recorded: each on a run that really crashes below `troubleshoot run`, and on its log alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_path
from troubleshooter.report.model import Report

pytest.importorskip("torch")

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
        self.gradient_checkpointing = False

    def forward(self, x):
        return self.head(self.inside(x)).sum()

model = Net()
"""
STEP = "def step(model, x):\n    loss = model(x)\n    loss.backward()\nstep(model, torch.randn(2, 4))\n"
# The words alone cannot tell that this loop belongs to no adapter training: its frames name peft.
IN_PEFT = """
import types
tuner = types.ModuleType("tuner")
exec(compile(%r, "/site-packages/peft/tuner.py", "exec"), tuner.__dict__)
"""
ENCODER = """
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(1000, 8), nn.Embedding(128, 8)

    def forward(self, ids):
        return self.tokens(ids) + self.places(torch.arange(ids.shape[1])[None])

Encoder()(torch.full((2, %d), %d))
"""
CLASSES = """
import torch
from torch.nn.functional import cross_entropy
cross_entropy(torch.randn(8, 3), torch.zeros(8, %d, dtype=torch.long))
"""
HEAD = """
import torch
from torch.nn.functional import cross_entropy

def loss_of(logits, labels):
    return cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))

loss_of(torch.randn(%s), torch.zeros(4, %d, dtype=torch.long))
"""


def in_peft(code: str) -> str:
    return MODEL + IN_PEFT % STEP.rpartition("step(")[0] + code + "\ntuner.step(model, torch.randn(2, 4))\n"


def crash(folder: Path, code: str) -> Path:
    """The folder of a run that failed below `troubleshoot run`."""
    (folder / "train.py").write_text(code)
    command = [sys.executable, "-m", "troubleshooter", "run", "--log", "kept", "--", sys.executable, "train.py"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    return folder / "kept"


def answers(tool: Diagnoser, folder: Path) -> tuple[Report, Report]:
    """With the crash facts, and from the log alone."""
    return tool.report(from_path(folder)), tool.report(from_path(folder / "output.log"))


@pytest.mark.parametrize(
    ("code", "facts", "log"),
    [
        (in_peft("model.requires_grad_(False)"), ("nothing-in-the-graph", "all-frozen"), ("checkpoint-inputs-no-grad", "with-checkpointing")),
        (in_peft("model.forward = lambda x: torch.tensor(1.0)"), ("nothing-in-the-graph", "left-the-graph"), ("checkpoint-inputs-no-grad", "with-checkpointing")),
        (
            in_peft("model.gradient_checkpointing = True\nmodel.forward = lambda x: torch.tensor(1.0)"),
            ("checkpoint-inputs-no-grad", "with-checkpointing"), ("checkpoint-inputs-no-grad", "with-checkpointing"),
        ),
        (ENCODER % (160, 7), ("position-index-out-of-range", "longer-than-the-table"), ("embedding-index-out-of-range", "cpu")),
        (ENCODER % (60, 1000), ("embedding-index-out-of-range", "cpu"), ("embedding-index-out-of-range", "cpu")),
    ],
    ids=["all frozen", "left the graph", "checkpointing", "too many positions", "a token too large"],
)  # fmt: skip
def test_recorded_values_part_causes_that_words_cannot(
    tmp_path: Path, tool: Diagnoser, code: str, facts: tuple[str, str], log: tuple[str, str]
) -> None:
    with_facts, alone = answers(tool, crash(tmp_path, code))
    assert [(one.id, one.symptom) for one in with_facts.diagnoses][:1] == [facts]
    assert [(one.id, one.symptom) for one in alone.diagnoses][:1] == [log]
    assert facts[0] == log[0] or log[0] not in [one.id for one in with_facts.diagnoses]


@pytest.mark.parametrize(
    ("code", "facts", "log"),
    [
        (CLASSES % 1, ["Make the labels"], ["Make the labels", "One-hot rows"]),
        (CLASSES % 5, ["One-hot rows"], ["Make the labels", "One-hot rows"]),
        (HEAD % ("4, 3", 9), ["Match head and"], ["Make labels as", "Match head and"]),
        (HEAD % ("4, 8, 30", 9), ["Make labels as", "Match head and"], ["Make labels as", "Match head and"]),
    ],
    ids=["a column", "rows", "a label a token", "a token too many"],
)
def test_recorded_shapes_leave_out_the_fix_that_does_not_fit(
    tmp_path: Path, tool: Diagnoser, code: str, facts: list[str], log: list[str]
) -> None:
    with_facts, alone = answers(tool, crash(tmp_path, code))
    assert with_facts.diagnoses[0].id == alone.diagnoses[0].id
    assert [fix.do[: len(want)] for fix, want in zip(with_facts.diagnoses[0].fixes, facts, strict=True)] == facts
    assert [fix.do[: len(want)] for fix, want in zip(alone.diagnoses[0].fixes, log, strict=True)] == log


def test_a_value_that_decides_is_shown_as_evidence(tmp_path: Path, tool: Diagnoser) -> None:
    report, _ = answers(tool, crash(tmp_path, in_peft("model.requires_grad_(False)")))
    assert "model: Net (dtype=float32 device=cpu trainable=0 of 4)" in str(report)
