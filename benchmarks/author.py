"""Measure how long an author waits for the first answer after an edit: ``python -m benchmarks.author [--count 10000]``.

The shipped entries, and as many generated ones as make ``count``, stand in one folder. Whole processes diagnose a pasted
traceback: with nothing changed, after an edit of one entry's text, and after an edit that brings a new literal. Printed are
medians of wall-clock time, and how much longer the edit makes the next diagnosis.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks import logs
from kb.cache import CHECKOUT

RUNS = 5
_ENTRY = """\
id: made-{n}
severity: crash
title: A made entry number {n} of this benchmark
symptoms:
{symptoms}
cause: Made for a benchmark, number {n}.
fixes: [{{do: "Nothing, it is number {n}"}}]
sources: [{{run: "benchmark", shows: cause}}]
"""
_SYMPTOM = """\
  - require: [{{exception: RuntimeError, message: "{words}"}}, {{frame: "{frame}.py"}}]
    source: {{run: "benchmark"}}
"""
_WORDS = ["tensor", "device", "shape", "dtype", "rank", "shard", "adapter", "layer", "config", "token", "mask", "batch", "loss", "scale", "cache", "graph", "module", "weight", "gradient", "optimizer", "scheduler", "checkpoint", "processor", "template", "tokenizer", "dataset", "column", "sampler", "worker", "kernel"]


def make(folder: Path, count: int) -> None:
    """Write generated entries until the folder holds ``count``; each has four symptoms with words of its own."""
    pick = random.Random(3)
    there = sum(1 for _ in folder.glob("*/*/entry.yaml"))
    for n in range(count - there):
        symptoms = "".join(
            _SYMPTOM.format(words=" ".join(pick.choices(_WORDS, k=4)) + f" {n} of {k}", frame=pick.choice(_WORDS))
            for k in range(4)
        )
        entry = folder / f"made{n % 20}" / f"made-{n}"
        entry.mkdir(parents=True)
        (entry / "entry.yaml").write_text(_ENTRY.format(n=n, symptoms=symptoms.rstrip()), encoding="utf-8")
        samples = "".join(f"=== match {k}\nRuntimeError: {' '.join(pick.choices(_WORDS, k=6))} {n}\n" for k in range(2))
        (entry / "samples.log").write_text(samples, encoding="utf-8")


@dataclass(frozen=True)
class Waits:
    """Seconds of wall-clock time: the first answer ever, and medians of later ones."""

    first: float
    usual: float
    text: float
    literal: float


def waits(root: Path, count: int = 0) -> Waits:
    """Measure in an empty folder, with the shipped entries and generated ones up to ``count``."""
    folder, log = root / "entries", root / "pasted.log"
    shutil.copytree(CHECKOUT, folder)
    make(folder, count)
    log.write_bytes(logs.FAILURE)
    answer = f"from kb import cache; from pathlib import Path; cache.CHECKOUT = Path({str(folder)!r})\n"
    answer += "from troubleshooter import diagnose\n"
    answer += f"assert diagnose(Path({str(log)!r})).diagnoses[0].id == 'cache-object-float'"
    environment = {**os.environ, "TROUBLESHOOT_CACHE": str(root / "cache")}

    def seconds() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", answer], env=environment, check=True)
        return time.perf_counter() - start

    first = seconds()
    usual, text, literal = [], [], []
    entry = folder / "trainers" / "made-edited" / "entry.yaml"
    entry.parent.mkdir()
    for run in range(RUNS):
        symptom = _SYMPTOM.format(words=f"quux flux {run}", frame="a").rstrip()
        entry.write_text(_ENTRY.format(n="edited", symptoms=symptom), encoding="utf-8")
        literal.append(seconds())
        entry.write_text(entry.read_text("utf-8").replace("Nothing", "Nothing at all"), encoding="utf-8")
        text.append(seconds())
        usual.append(seconds())
    return Waits(first, *map(statistics.median, (usual, text, literal)))


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--count", type=int, default=0, help="entries in the folder (at least the shipped ones)")
    with tempfile.TemporaryDirectory() as place:
        found = waits(Path(place), given.parse_args().count)
    print(f"first start      {found.first:5.2f} s")
    for name, median in (("nothing changed", found.usual), ("text edited", found.text), ("new literal", found.literal)):
        print(f"{name:16} {median:5.2f} s  (+{median - found.usual:.2f} s)")


if __name__ == "__main__":
    main()
