"""What explaining costs: ``python -m benchmarks.explain_cost [--reports FILE] [--rounds N]``.

Explains two failures of the reports, one after the other, in a process that has read the log but has imported and opened nothing
of the explanation. The first one pays for the imports and for opening the index; the next one shows what an explanation costs
by itself. Garbage is collected as the command collects it (`troubleshooter.cli.calls`), or with ``--collect`` as Python does by
itself, which is what a program pays that imports the package. Prints processor time (not the clock's) of both, and by how much the peak of memory grew: median, 90th percentile and
maximum. Exit status 1 if the median of the next explanation exceeds 5 ms, or that of memory 20 MiB. The first is only printed.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.score_reports import load
from troubleshooter.cli.calls import GC_THRESHOLD_OBJECTS
from troubleshooter.observe.model import Failure
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.given import given

REPORTS = Path(__file__).with_name("reports") / "silent.jsonl"
MAX_MILLISECONDS, MAX_MIB = 5.0, 20.0
MIB = 1 << 20


class ExplanationCost(NamedTuple):
    """What two explanations cost: milliseconds of processor time of the first with its imports and of the next, and MiB of memory."""

    first: float
    next: float
    memory: float


def failures(path: Path) -> list[Failure]:
    """The last failure of each report of a file."""
    tool = Diagnoser.of([])
    found = [[one for one in tool.observe(given(report.text)).failures if one.exception] for report in load(path)]
    return [several[-1] for several in found if several]


def as_the_command() -> None:
    """Put garbage collection off as the command does."""
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD_OBJECTS)


def cost(two: tuple[Failure, Failure]) -> ExplanationCost:
    """The cost of explaining two failures, in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    from troubleshooter.explaining.explain import explain

    explain(two[0])
    middle = time.process_time()
    explain(two[1])
    last = time.process_time() - middle
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return ExplanationCost((middle - begun) * 1000, last * 1000, grown * (1 if sys.platform == "darwin" else 1024) / MIB)


def line(name: str, values: Sequence[float], unit: str) -> str:
    """The median, the 90th percentile and the maximum, as text."""
    ordered = sorted(values)
    high = ordered[int(0.9 * (len(ordered) - 1))]
    return f"{name}: median {statistics.median(ordered):.1f} {unit}, 90 % below {high:.1f} {unit}, at most {ordered[-1]:.1f} {unit}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explain_cost", description=__doc__)
    parser.add_argument("--reports", type=Path, default=REPORTS, help="a file of reports without a diagnosis")
    parser.add_argument("--rounds", type=int, default=3, help="how often all of them are explained")
    parser.add_argument("--collect", action="store_true", help="collect garbage as Python does by itself")
    options = parser.parse_args()
    found = failures(options.reports)
    # A process that is forked for one failure has read the log, and has imported and opened nothing of the explanation.
    begin = None if options.collect else as_the_command
    with multiprocessing.get_context("fork").Pool(1, begin, maxtasksperchild=1) as pool:
        costs = pool.map(cost, list(zip(found, found[1:] + found[:1], strict=True)) * options.rounds, chunksize=1)
    following = [one.next for one in costs]
    memory = [one.memory for one in costs]
    print(f"{len(found)} failures, {options.rounds} rounds")
    print(line("first explanation, with imports", [one.first for one in costs], "ms"))
    print(line("the next explanation", following, "ms"))
    print(line("memory", memory, "MiB"))
    return int(statistics.median(following) > MAX_MILLISECONDS or statistics.median(memory) > MAX_MIB)


if __name__ == "__main__":
    sys.exit(main())
