"""Measure whether the program keeps its budget: ``python -m benchmarks.budget [--write] [--only WORDS]``.

Each line of ``budget.json`` is a bound; this measures every figure and compares. Ratios are of whole processes that run in
turn, medians of several runs, so that a busy or slow machine moves both sides. Exit status 1 when a bound is missed.
``--write`` keeps the measured figures beside the bounds, with the date.
"""

from __future__ import annotations

import argparse
import compileall
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from benchmarks import author, logs, many
from benchmarks.speed import MIB, measure, patterns
from kb.compile.folder import compile_to
from kb.load import load
from troubleshooter.pipeline import Diagnoser

BUDGET = Path(__file__).with_name("budget.json")
ROOT = Path(__file__).parent.parent
RUNS = 15
LARGE_RUNS = 5
SEED = 29


def installed(place: Path) -> Path:
    """A folder with the packages as a wheel installs them: entries and modules compiled."""
    for package in ("kb", "troubleshooter"):
        shutil.copytree(ROOT / package, place / package, ignore=shutil.ignore_patterns("__pycache__"))
    compile_to(load(ROOT / "entries"), place / "kb" / "data" / "knowledge.pack")
    compileall.compile_dir(place, quiet=1)
    return place


def pasted(place: Path) -> Iterator[tuple[str, float]]:
    """A pasted traceback and a log of 1 MB, beside a Python that does nothing."""
    paste, megabyte = place / "pasted.log", place / "1mb.log"
    paste.write_bytes(logs.FAILURE)
    logs.write(megabyte, "failure at the end", 1_000_000, SEED, [])
    answer = f"import sys; sys.path.insert(0, {str(installed(place / 'installed'))!r}); from troubleshooter.__main__ import main; main()"
    tool = [sys.executable, "-c", answer, "--format", "json"]
    commands = [[sys.executable, "-c", "pass"], [*tool, str(paste)], [*tool, str(megabyte)]]
    measure(commands, 1)
    nothing, small, large = measure(commands, RUNS)
    yield "pasted traceback, times python -c pass", small.wall / nothing.wall
    yield "log of 1 MB, times python -c pass", large.wall / nothing.wall


def entries(place: Path) -> Iterator[tuple[str, float]]:
    """A pasted traceback with 100 and with 1,000 generated entries."""
    log = place / "pasted.log"
    log.write_bytes(logs.FAILURE)
    commands = []
    for count in (100, 1000):
        compile_to(many.made(place / str(count), count), place / f"{count}.pack")
        commands.append([sys.executable, "-c", many.ANSWER, str(place / f"{count}.pack"), str(log)])
    measure(commands, 1)
    few, more = measure(commands, RUNS)
    yield "1,000 entries, times the time of 100", more.wall / few.wall


def large(place: Path) -> Iterator[tuple[str, float]]:
    """A log of 256 MiB that turns NaN, beside ripgrep with 1,000 patterns; nothing where ripgrep is not installed."""
    if shutil.which("rg") is None:
        print("256 MiB: left out, as ripgrep is not installed", file=sys.stderr)
        return
    log, words = place / "large.log", place / "patterns"
    literals = Diagnoser.load().knowledge.literals
    words.write_text("\n".join(patterns(1000, literals, SEED)) + "\n")
    logs.write(log, "NaN from the middle on", 256 * MIB, SEED, literals)
    commands = [
        [sys.executable, "-m", "troubleshooter", "--format", "json", str(log)],
        ["rg", "-c", "-F", "-f", str(words), str(log)],
    ]
    measure(commands, 1)
    ours, rg = measure(commands, LARGE_RUNS)
    yield "256 MiB, times as fast as ripgrep with 1,000 patterns", rg.wall / ours.wall
    yield "peak memory on 256 MiB, MB", ours.peak


def authoring(place: Path) -> Iterator[tuple[str, float]]:
    """The first answer from a checkout, and the next one after an entry was edited."""
    measured = author.waits(place)
    yield "first compilation of all entries, s", measured.first
    yield "diagnosis after an edited entry, s more than usual", max(measured.text, measured.literal) - measured.usual


MEASURES: tuple[Callable[[Path], Iterator[tuple[str, float]]], ...] = (pasted, entries, large, authoring)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the measured figures in budget.json")
    parser.add_argument("--only", choices=[measure_.__name__ for measure_ in MEASURES], help="measure one part")
    given = parser.parse_args()
    budget = json.loads(BUDGET.read_text("utf-8"))
    missed = 0
    for part in MEASURES:
        if given.only not in (None, part.__name__):
            continue
        with tempfile.TemporaryDirectory() as place:
            for name, figure in part(Path(place)):
                bound = budget[name]
                held = bound.get("at_least", 0) <= figure <= bound.get("at_most", float("inf"))
                missed += not held
                bound.update(measured=round(figure, 2), on=date.today().isoformat())
                asked = " ".join(f"{word.replace('_', ' ')} {bound[word]}" for word in ("at_least", "at_most") if word in bound)
                print(f"{'held  ' if held else 'MISSED'} {name}: {figure:.2f} ({asked})")
    if given.write:
        BUDGET.write_text("{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in budget.items()) + "\n}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
