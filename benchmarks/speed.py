"""Compare speed and memory with ripgrep: ``python -m benchmarks.speed [--size 256] [--seed 1] [--runs 5] [--rg PATH] [--write]``.

For each kind of log the commands run in turn, several times, and medians and ratios are taken: ``troubleshoot FILE`` (the
whole diagnosis, as JSON); ``rg -c -F -f PATTERNS FILE`` of each ripgrep that is named, with 100 and with 1,000 patterns (the
shipped entries' own literals, padded with words that do not occur). Then small logs and the start-up beside ``python -c pass``, and a scan of
10,000 small logs. Sizes may be several: ``--size 256 --size 1024``.
``--write`` keeps the figures in ``benchmarks/RESULTS.md`` with machine, versions and date.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import statistics
import string
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from benchmarks import logs
from benchmarks.commit import measured_commit
from troubleshooter import __version__
from troubleshooter.pipeline import Diagnoser

TARGET = Path(__file__).with_name("RESULTS.md")
MIB = 1 << 20
MANY = 10_000


@dataclass
class Cost:
    """Medians of one command on one log: seconds of wall and CPU, peak resident memory in MB."""

    wall: float
    cpu: float
    peak: float


_LAUNCHER = """
import os, sys, time
null = os.open(os.devnull, os.O_RDWR)
start = time.perf_counter()
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, n) for n in (0, 1, 2)])
used = os.wait4(pid, 0)[2]
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def measure(commands: Sequence[Sequence[str]], runs: int) -> list[Cost]:
    """Run the commands in turn, ``runs`` times, and measure each."""
    seen: list[list[tuple[float, float, float]]] = [[] for _ in commands]
    for _ in range(runs):
        for number, command in enumerate(commands):
            seen[number].append(_once(command))
    return [
        Cost(*(statistics.median(column) for column in zip(*rows, strict=True)))
        for rows in seen
    ]


def _once(command: Sequence[str]) -> tuple[float, float, float]:
    # A small launcher does the measuring: a process inherits the peak memory of the one that it was forked from.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", _LAUNCHER, *command], capture_output=True, text=True, check=True)
    wall, cpu, peak = map(float, done.stdout.split())
    return wall, cpu, peak


def patterns(count: int, literals: Sequence[str], seed: int) -> list[str]:
    """The ``count`` longest literals of the entries; if there are too few, words that occur nowhere are added."""
    pick = random.Random(seed)
    own = sorted({text for text in literals if len(text) >= 8 and "\n" not in text})
    pick.shuffle(own)
    out = own[:count]
    while len(out) < count:
        out.append("".join(pick.choices(string.ascii_lowercase, k=pick.randint(10, 30))))
    return out


_LOOP = """
import sys
patterns = open(sys.argv[1], "rb").read().lower().splitlines()
with open(sys.argv[2], "rb") as log:
    print(sum(any(p in line for p in patterns) for line in map(bytes.lower, log)))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append", help="MiB of the large logs; may be given several times")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rg", action="append", help="a ripgrep to compare with; may be given several times")
    parser.add_argument("--command", default=None, help="the troubleshoot to measure (default: of this environment)")
    parser.add_argument("--write", action="store_true", help="keep the figures in benchmarks/RESULTS.md")
    parser.add_argument("--folder", type=Path, default=None, help="where the logs are made (default: a temporary folder)")
    given = parser.parse_args()
    given.size, given.rg = given.size or [256], given.rg or ["rg"]
    tool = [given.command] if given.command else [sys.executable, "-m", "troubleshooter"]
    python = str(Path(tool[0]).with_name("python")) if given.command else sys.executable
    for rg in given.rg:
        if shutil.which(rg) is None:
            raise SystemExit(f"{rg}: not found; install ripgrep (Debian: apt-get install ripgrep) or name it with --rg")
    literals = Diagnoser.load().knowledge.literals
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        bench = Bench(Path(place), tool, python, given, literals)
        text = "\n".join([*bench.heading(), *bench.large(), *bench.small(), *bench.many(), ""])
    print(text)
    if given.write:
        TARGET.write_text(text, encoding="utf-8")


class Bench:
    """The tables of one run of the benchmark, as lines of Markdown."""

    def __init__(self, place: Path, tool: list[str], python: str, given: argparse.Namespace, literals: list[str]) -> None:
        self.place, self.tool, self.python, self.given = place, tool, python, given
        self.literals = literals
        self.patterns = {count: place / f"patterns-{count}" for count in (100, 1000)}
        for count, file in self.patterns.items():
            file.write_text("\n".join(patterns(count, literals, given.seed)) + "\n")

    def heading(self) -> list[str]:
        given = self.given
        versions = [
            subprocess.run([rg, "--version"], capture_output=True, text=True, check=True).stdout.split()[1] for rg in given.rg
        ]
        asked = " ".join([*(f"--size {size}" for size in given.size), f"--seed {given.seed} --runs {given.runs}"])
        return [
            "# Results",
            "",
            f"Made {date.today().isoformat()} by `python -m benchmarks.speed {asked}` with Troubleshoot {__version__} "
            f"({measured_commit()}, {len(self.literals)} literals), ripgrep {' and '.join(versions)}, Python {platform.python_version()}, "
            f"{platform.machine()}, {os.cpu_count()} cores. Medians of whole processes, run in turn. Ratios are the time of the "
            "fastest ripgrep over ours: above 1, ours is faster.",
            "",
        ]

    def large(self) -> list[str]:
        rgs = [f"rg{n + 1 if len(self.given.rg) > 1 else ''} {count:,}" for count in self.patterns for n in range(len(self.given.rg))]
        columns = ["log", "ours s", "CPU s", "peak MB", *(f"{name} s" for name in rgs), "rg 100 / ours", "rg 1,000 / ours"]
        out = [_row(columns), _row(["---"] * len(columns))]
        for size in self.given.size:
            for kind in (*logs.KINDS, "one line"):
                out.append(self._large(kind, size))
                print(out[-1], file=sys.stderr)
        return out

    def _large(self, kind: str, size: int) -> str:
        path = self.place / "log"
        logs.write(path, kind, size * MIB, self.given.seed, [t for t in self.literals if len(t) >= 8])
        with path.open("rb") as file:
            while file.read(MIB):
                pass  # all readers find it in the page cache
        searches = [
            [rg, "-c", "-F", "-f", str(file), str(path)] for file in self.patterns.values() for rg in self.given.rg
        ]
        ours, *others = measure([[*self.tool, "--format", "json", str(path)], *searches], self.given.runs)
        half = len(others) // 2
        few, many = (min(cost.wall for cost in part) for part in (others[:half], others[half:]))
        shown = [f"{ours.wall:.2f}", f"{ours.cpu:.2f}", f"{ours.peak:.0f}", *(f"{cost.wall:.2f}" for cost in others)]
        ratios = [f"{few / ours.wall:.2f}", f"{many / ours.wall:.2f}"]
        return _row([f"{kind}, {size:,} MiB", *shown, *ratios])

    def small(self) -> list[str]:
        """A pasted traceback and small logs, beside a Python that does nothing and the first ripgrep."""
        path = self.place / "pasted"
        path.write_bytes(logs.FAILURE)
        sized = {"1 KB": 1000, "1 MB": 1_000_000, "16 MB": 16_000_000}
        for name, size in sized.items():
            logs.write(self.place / name, "failure at the end", size, self.given.seed, self.literals)
        commands = {
            "`python -c pass`": [self.python, "-c", "pass"],
            "a pasted traceback, terminal": [*self.tool, str(path)],
            "a pasted traceback, JSON": [*self.tool, "--format", "json", str(path)],
            **{f"a log of {name}, JSON": [*self.tool, "--format", "json", str(self.place / name)] for name in sized},
            **{
                f"ripgrep, 100 patterns, {name}": [
                    self.given.rg[0], "-c", "-F", "-f", str(self.patterns[100]), str(self.place / name)
                ]
                for name in sized
            },
            **{
                f"a Python loop over lines, 100 patterns, {name}": [
                    self.python, "-c", _LOOP, str(self.patterns[100]), str(self.place / name)
                ]
                for name in ("1 KB", "1 MB")
            },
        }
        costs = measure(list(commands.values()), max(15, self.given.runs))
        rows = [
            _row([name, f"{cost.wall * 1000:.1f}", f"{cost.wall / costs[0].wall:.1f}", f"{cost.peak:.0f}"])
            for name, cost in zip(commands, costs, strict=True)
        ]
        return ["", _row(["start-up", "ms", "of `python -c pass`", "peak MB"]), _row(["---"] * 4), *rows]


    def many(self) -> list[str]:
        """A scan of a folder of small logs, beside the scan of one of them (the start-up)."""
        pick = random.Random(self.given.seed)
        kinds = [kind for kind in logs.KINDS if "64" not in kind]
        folder, one = self.place / "many", self.place / "one"
        for at, count in ((folder, MANY), (one, 1)):
            at.mkdir()
            for n in range(count):
                logs.write(at / f"job{n:05}.log", pick.choice(kinds), pick.randint(500, 8000), pick.randrange(1 << 30), self.literals)
        walls = []
        for at in (one, folder):
            record = self.place / f"{at.name}.jsonl"
            (cost,) = measure([[*self.tool, "scan", str(at), "--record", str(record), "--format", "json"]], 1)
            walls.append(cost.wall)
        rate = (MANY - 1) / (walls[1] - walls[0])
        return ["", f"`scan` of {MANY:,} logs of 0.5 to 8 KB: {walls[1]:.1f} s, {rate:,.0f} logs a second after the start-up ({walls[0]:.2f} s)."]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
