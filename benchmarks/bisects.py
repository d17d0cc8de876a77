"""Known breaks of real packages, searched for with ``troubleshoot bisect``: exact, how many trials, how long.

    python -m benchmarks.bisects [--only NAME] [--write FILE]

Each break is a few lines of code and two ends. The expected releases are those that the packages' change logs name, as far as
the index offers them (urllib3 2.0.0 and 2.0.1 were taken back). The packages come from the index, so this needs a network and
some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from troubleshooter.verify.overlays import Overlays, default_folder

ROOT = Path(__file__).resolve().parents[1]
OF_THIS_CHECKOUT = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('troubleshooter', run_name='__main__')"
"""Runs the tool of this checkout, whichever one is installed."""


class Break(NamedTuple):
    """``ends``: by package the version that works and the one that fails ("" lets the search find it itself).

    ``expected``: by package the last good and the first bad release. ``beside``: versions that the code needs beside.
    """

    name: str
    code: str
    ends: Mapping[str, tuple[str, str]]
    expected: Mapping[str, tuple[str, str]]
    beside: Mapping[str, str] = {}


BREAKS = (
    Break("jinja2-markup", "from jinja2 import Markup", {"jinja2": ("", "")}, {"jinja2": ("3.0.3", "3.1.0")}),
    Break("jinja2-contextfunction", "from jinja2 import contextfunction", {"jinja2": ("3.0.0", "")}, {"jinja2": ("3.0.3", "3.1.0")}),
    Break("markupsafe-soft-unicode", "from markupsafe import soft_unicode", {"markupsafe": ("", "")}, {"markupsafe": ("2.0.1", "2.1.0")}),
    Break("numpy-float", "import numpy; numpy.float", {"numpy": ("1.23.5", "")}, {"numpy": ("1.23.5", "1.24.0")}),
    Break("numpy-float_", "import numpy; numpy.float_", {"numpy": ("1.24.0", "2.2.6")}, {"numpy": ("1.26.4", "2.0.0")}),
    Break("hub-cached-download", "from huggingface_hub import cached_download", {"huggingface-hub": ("0.20.0", "")}, {"huggingface-hub": ("0.25.2", "0.26.0")}),
    Break("hub-hffolder", "from huggingface_hub import HfFolder", {"huggingface-hub": ("0.20.0", "")}, {"huggingface-hub": ("0.36.2", "1.0.0")}),
    Break("pydantic-basesettings", "from pydantic import BaseSettings", {"pydantic": ("1.10.2", "2.5.0")}, {"pydantic": ("1.10.27", "2.0")}),
    Break("packaging-legacy", "from packaging.version import LegacyVersion", {"packaging": ("20.0", "")}, {"packaging": ("21.3", "22.0")}),
    Break("click-terminal-size", "from click import get_terminal_size", {"click": ("", "")}, {"click": ("8.0.4", "8.1.0")}),
    Break("werkzeug-url-quote", "from werkzeug.urls import url_quote", {"werkzeug": ("2.0.0", "")}, {"werkzeug": ("2.3.8", "3.0.0")}),
    Break("urllib3-packages", "from urllib3.packages import six", {"urllib3": ("1.26.0", "")}, {"urllib3": ("1.26.20", "2.0.2")}),
    Break("accelerate-dispatch", "from accelerate import Accelerator\nAccelerator(dispatch_batches=True)", {"accelerate": ("0.30.0", "1.3.0")}, {"accelerate": ("0.34.2", "1.0.0")}),
    Break("datasets-load-metric", "from datasets import load_metric", {"datasets": ("2.19.0", "3.6.0")}, {"datasets": ("2.21.0", "3.0.0")}),
    Break("peft-int8-training", "from peft import prepare_model_for_int8_training", {"peft": ("0.8.0", "0.12.0")}, {"peft": ("0.9.0", "0.10.0")}, {"transformers": "4.45.2", "accelerate": "1.2.1"}),
    Break("transformers-evaluation-strategy", "from transformers import TrainingArguments\nTrainingArguments('x', evaluation_strategy='no', use_cpu=True)", {"transformers": ("4.45.2", "4.53.3")}, {"transformers": ("4.50.3", "4.51.0")}, {"accelerate": "1.2.1"}),
    Break("pair-jinja2-markupsafe", "import jinja2", {"jinja2": ("3.0.3", "2.11.3"), "markupsafe": ("2.0.1", "2.1.1")}, {"jinja2": ("3.0.0", "2.11.3"), "markupsafe": ("2.0.1", "2.1.0")}),
    Break("pair-flask-werkzeug", "import flask", {"flask": ("2.3.3", "2.1.3"), "werkzeug": ("2.3.8", "3.0.1")}, {"flask": ("2.2.4", "2.2.3"), "werkzeug": ("2.3.8", "3.0.0")}),
    Break("pair-typer-click", "import typer, sys\nsys.argv = ['x', '--help']\ndef main(name: str = 'a'): pass\ntyper.run(main)", {"typer": ("0.16.0", "0.15.1"), "click": ("8.1.8", "8.2.0")}, {"typer": ("0.16.0", "0.15.4"), "click": ("8.1.8", "8.2.0")}),
    Break("pair-pandas-numpy", "import pandas", {"pandas": ("2.2.3", "2.1.4"), "numpy": ("1.26.4", "2.2.0")}, {"pandas": ("2.2.2", "2.2.1"), "numpy": ("1.26.4", "2.0.0")}),
    Break("pair-peft-transformers", "import peft", {"peft": ("0.18.1", "0.17.1"), "transformers": ("4.57.6", "5.0.0")}, {"peft": ("0.18.0", "0.17.1"), "transformers": ("4.57.6", "5.0.0")}, {"accelerate": "1.10.1"}),
)  # fmt: skip


class Searched(NamedTuple):
    name: str
    exact: bool
    trials: int
    runs: int
    seconds: float
    found: Mapping[str, Sequence[str | None]]
    verdicts: Sequence[str]


def search(one: Break) -> Searched:
    """One break, in a folder of its own, from nothing remembered: the command as a user gives it, in its own process."""
    overlays = Overlays(default_folder())
    beside = overlays.path(one.beside) if one.beside else ""
    # -I: what the code needs beside is for the trials, not for the program that searches.
    command = [sys.executable, "-I", "-c", OF_THIS_CHECKOUT, str(ROOT), "bisect", "--python", str(overlays.base()), "--timeout", "300"]
    command += ["--format", "json"]
    for name, (good, bad) in one.ends.items():
        command += ["--package", name, *(["--good", f"{name}=={good}"] if good else []), *(["--bad", f"{name}=={bad}"] if bad else [])]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "repro.py").write_text(one.code, encoding="utf-8")
        started = time.monotonic()
        for again in (["--again"], [], []):  # where the index does not answer, the same command goes on
            done = subprocess.run(
                [*command, *again, "--", "python", "repro.py"], cwd=folder, env={**os.environ, "PYTHONPATH": beside},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.stdout:
                break
        seconds = time.monotonic() - started
    if not done.stdout:
        raise SystemExit(f"{one.name}: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    found = {each["package"]: (each["last_good"], each["first_bad"]) for each in answer["findings"]}
    return Searched(
        one.name, found == dict(one.expected), len(answer["trials"]), answer["runs"], round(seconds, 1), found,
        [each["verdict"] for each in answer["findings"]],
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bisects", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", action="append", default=[], help="only this break")
    parser.add_argument("--write", type=Path, help="append the results to this file, one JSON object a line")
    chosen = parser.parse_args()
    results = []
    for one in BREAKS:
        if chosen.only and one.name not in chosen.only:
            continue
        result = search(one)
        results.append(result)
        print(f"{'exact' if result.exact else 'OTHER':<6} {result.trials:>3} trials {result.seconds:>6.1f} s  {one.name}  {result.found} {result.verdicts}", flush=True)
        if chosen.write:
            with chosen.write.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result._asdict()) + "\n")
    exact = sum(result.exact for result in results)
    trials = statistics.median(result.trials for result in results)
    print(f"{exact} of {len(results)} exact; median {trials:g} trials; longest {max(r.seconds for r in results):.0f} s")
    return 0 if exact >= len(results) - 1 else 1


if __name__ == "__main__":
    sys.exit(main())
