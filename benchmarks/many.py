"""Measure what more entries cost: ``python -m benchmarks.many`` times a pasted traceback with 100, 1,000 and all entries.

Generated entries (own words, one symptom each) are compiled into packs; whole processes answer the same traceback from
each pack, in turn; medians and ratios.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from benchmarks import logs
from benchmarks.speed import measure
from kb.cache import CHECKOUT
from kb.compile.folder import compile_to
from kb.load import Library, load

ANSWER = """
import sys
from pathlib import Path
from kb.compiled import Knowledge, Pack
from troubleshooter.read.sources import from_path
from troubleshooter.pipeline import Diagnoser
report = Diagnoser.of([Pack(Path(sys.argv[1]))]).report(from_path(Path(sys.argv[2])))
assert report.failures
"""
_ENTRY = """\
id: made-{n}
severity: crash
title: A made entry number {n} of this benchmark
symptoms:
  - require: [{{exception: RuntimeError, message: "{words}"}}]
    source: {{run: "benchmark"}}
cause: Made for a benchmark, number {n}.
fixes: [{{do: "Nothing, it is number {n}"}}]
sources: [{{run: "benchmark", shows: cause}}]
"""


def made(folder: Path, count: int) -> Library:
    """A library of ``count`` generated entries."""
    pick = random.Random(3)
    words = ["tensor", "device", "shape", "dtype", "rank", "shard", "adapter", "layer", "config", "token", "mask", "batch", "loss", "scale", "cache", "graph"]
    for n in range(count):
        entry = folder / "made" / f"made-{n}"
        entry.mkdir(parents=True)
        text = " ".join(pick.choices(words, k=5)) + f" {n} mismatch"
        (entry / "entry.yaml").write_text(_ENTRY.format(n=n, words=text), encoding="utf-8")
    return load(folder)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        log = root / "pasted.log"
        log.write_bytes(logs.FAILURE)
        packs = {}
        for name, library in (("100 made", made(root / "a", 100)), ("1,000 made", made(root / "b", 1000)), ("shipped", load(CHECKOUT))):
            packs[f"{name} ({len(library.entries)})"] = root / f"{len(packs)}.pack"
            compile_to(library, root / f"{len(packs) - 1}.pack")
        commands = [[sys.executable, "-c", ANSWER, str(pack), str(log)] for pack in packs.values()]
        measure(commands, 2)  # scanners come into the cache
        costs = measure(commands, 25)
        for name, cost in zip(packs, costs, strict=True):
            print(f"{name:20} {cost.wall * 1000:6.1f} ms  {cost.wall / costs[0].wall:.2f} of the time with 100")


if __name__ == "__main__":
    main()
