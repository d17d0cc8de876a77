"""`troubleshoot run` with the launchers that people use: each really starts ranks, which end well or really fail."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.supervise.running import ROOT, run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="a keeper needs /proc and fork")]
TRAIN = str(Path(__file__).with_name("failing_train.py"))
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "DS_ACCELERATOR": "cpu",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "PYTHONPATH": os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH")) if part),
}
"""By launcher the package that must be installed, its words, and how many ranks it starts."""
LAUNCHERS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "python": ("torch", (sys.executable,), 1),
    "torchrun": ("torch", (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"), 2),
    "accelerate": (
        "accelerate",
        (sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1", "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"),
        1,
    ),
    "deepspeed": ("deepspeed", (sys.executable, "-m", "deepspeed.launcher.runner", "--num_gpus", "2", "--master_port", "29611"), 2),
    "shell": ("torch", ("sh", "-c", f'set -e; echo start; {sys.executable} "$@"; echo end', "sh"), 1),
}  # fmt: skip


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_launcher(tmp_path: Path, name: str) -> None:
    package, words, ranks = LAUNCHERS[name]
    if find_spec("torch") is None or find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    well = run(tmp_path / "well", *words, TRAIN, env=ENVIRONMENT)
    assert well.returncode == 0, well.stderr.decode()
    assert b"step 4 loss" in well.stdout
    assert not (tmp_path / "well/hang.json").exists()
    assert b"What the log shows" not in well.stderr
    failed = run(tmp_path / "failed", *words, TRAIN, "fail", env=ENVIRONMENT)
    report = told(tmp_path / "failed")
    assert failed.returncode == 1
    assert report["diagnoses"][0]["id"] == "layer-width-mismatch"
    assert any(value["value"].startswith("shape=(2, 7)") for frame in report["crash"] for value in frame["values"])
    if ranks > 1:
        assert f"rank {ranks - 1}, where it began: RuntimeError: mat1 and mat2" in failed.stderr.decode()


def test_a_notebook_that_nbconvert_executes(tmp_path: Path) -> None:
    for package in ("torch", "nbconvert", "ipykernel"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    for name, width in (("well", 8), ("failed", 7)):
        cells = ["import torch\nlayer = torch.nn.Linear(8, 4)\ndef step(x):\n    return layer(x)", f"rows = torch.randn(2, {width})\nstep(rows)"]
        book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}}, "cells": [
            {"cell_type": "code", "id": str(at), "execution_count": None, "metadata": {}, "outputs": [], "source": source} for at, source in enumerate(cells)
        ]}  # fmt: skip
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(book))
    words = (sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb")
    well = run(tmp_path / "well", *words, str(tmp_path / "well.ipynb"), env=ENVIRONMENT)
    assert well.returncode == 0, well.stderr.decode()
    assert b"What the log shows" not in well.stderr
    failed = run(tmp_path / "failed", *words, str(tmp_path / "failed.ipynb"), env=ENVIRONMENT)
    report = told(tmp_path / "failed")
    assert failed.returncode == 1
    assert report["diagnoses"][0]["id"] == "layer-width-mismatch"
    shown = {value["name"]: value["value"] for frame in report["crash"] for value in frame["values"]}
    assert shown["input"].startswith("shape=(2, 7)")  # of torch's frame
    assert shown["x"].startswith("shape=(2, 7)")  # of the cell's
