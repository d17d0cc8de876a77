"""Speed and memory beside ripgrep: ``python -m benchmarks.speed [--size 256] [--seed 1] [--runs 5] [--write]``.

For each kind of log the commands run in turn, several times, and medians and ratios are taken: ``troubleshoot FILE`` (the
whole diagnosis, as JSON), ``rg -c -F -f PATTERNS FILE`` with 100 and with 1,000 patterns (the shipped entries' own
literals, padded with words that do not occur), and ``python -c pass`` for the start-up. ``--write`` keeps the figures in
``benchmarks/RESULTS.md`` with machine, versions and date.
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
from troubleshooter import __version__
from troubleshooter.tool import Tool

TARGET = Path(__file__).with_name("RESULTS.md")
MIB = 1 << 20


@dataclass
class Cost:
    """Medians of one command on one log: seconds of wall and CPU, peak resident memory in MB."""

    wall: float
    cpu: float
    peak: float
    fastest: float


_LAUNCHER = """
import os, sys, time
null = os.open(os.devnull, os.O_RDWR)
start = time.perf_counter()
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, n) for n in (0, 1, 2)])
used = os.wait4(pid, 0)[2]
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def measure(commands: Sequence[Sequence[str]], runs: int) -> list[Cost]:
    """The commands in turn, ``runs`` times."""
    seen: list[list[tuple[float, float, float]]] = [[] for _ in commands]
    for _ in range(runs):
        for number, command in enumerate(commands):
            seen[number].append(_once(command))
    return [
        Cost(*(statistics.median(column) for column in zip(*rows, strict=True)), fastest=min(r[0] for r in rows))
        for rows in seen
    ]


def _once(command: Sequence[str]) -> tuple[float, float, float]:
    # A small launcher does the measuring: a process inherits the peak memory of the one that it was forked from.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", _LAUNCHER, *command], capture_output=True, text=True, check=True)
    wall, cpu, peak = map(float, done.stdout.split())
    return wall, cpu, peak


def patterns(count: int, literals: Sequence[str], seed: int) -> list[str]:
    """The entries' own literals, longest first cut to ``count``, padded with words that occur nowhere."""
    pick = random.Random(seed)
    own = sorted({text for text in literals if len(text) >= 8 and "\n" not in text})
    pick.shuffle(own)
    out = own[:count]
    while len(out) < count:
        out.append("".join(pick.choices(string.ascii_lowercase, k=pick.randint(10, 30))))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256, help="MiB of the large logs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rg", default="rg", help="the ripgrep to compare with")
    parser.add_argument("--command", default=None, help="the troubleshoot to measure (default: of this environment)")
    parser.add_argument("--write", action="store_true", help="keep the figures in benchmarks/RESULTS.md")
    parser.add_argument("--folder", type=Path, default=None, help="where the logs are made (default: a temporary folder)")
    given = parser.parse_args()
    tool = [given.command] if given.command else [sys.executable, "-m", "troubleshooter"]
    literals = Tool.load().knowledge.literals
    python = str(Path(tool[0]).with_name("python")) if given.command else sys.executable
    if shutil.which(given.rg) is None:
        raise SystemExit(f"{given.rg}: not found; install ripgrep (Debian: apt-get install ripgrep) or name it with --rg")
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        text = _report(Path(place), tool, python, given, literals)
    print(text)
    if given.write:
        TARGET.write_text(text, encoding="utf-8")


def _report(place: Path, tool: Sequence[str], python: str, given: argparse.Namespace, literals: Sequence[str]) -> str:
    files = {}
    for count in (100, 1000):
        files[count] = place / f"patterns-{count}"
        files[count].write_text("\n".join(patterns(count, literals, given.seed)) + "\n")
    version = subprocess.run([given.rg, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    out = [
        "# Results",
        "",
        f"Made {date.today().isoformat()} by `python -m benchmarks.speed --size {given.size} --seed {given.seed} "
        f"--runs {given.runs} --write` with Troubleshoot {__version__}, {version}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores. Medians of whole processes, run in turn; ratios are rg's time over ours.",
        "",
        "| log | ours s | CPU s | peak MB | rg 100 s | rg 1,000 s | rg 100 / ours | rg 1,000 / ours |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind, size in [*((kind, given.size * MIB) for kind in logs.KINDS), ("one line", given.size * MIB)]:
        path = place / "log"
        logs.write(path, kind, size, given.seed, [t for t in literals if len(t) >= 8])
        path.read_bytes()  # all readers find it in the page cache
        ours, few, many = measure(
            [
                [*tool, "--format", "json", str(path)],
                *([given.rg, "-c", "-F", "-f", str(files[count]), str(path)] for count in (100, 1000)),
            ],
            given.runs,
        )
        out.append(
            f"| {kind}, {given.size} MiB | {ours.wall:.2f} | {ours.cpu:.2f} | {ours.peak:.0f} | {few.wall:.2f} | {many.wall:.2f} "
            f"| {few.wall / ours.wall:.2f} | {many.wall / ours.wall:.2f} |"
        )
        print(out[-1], file=sys.stderr)
    path = place / "pasted"
    path.write_bytes(logs.FAILURE)
    small, large = place / "small", place / "large"
    logs.write(small, "failure at the end", MIB, given.seed, literals)
    logs.write(large, "failure at the end", 16 * MIB, given.seed, literals)
    commands = [[python, "-c", "pass"], *([*tool, *form, str(path)] for form in ([], ["--format", "json"]))]
    bare, shown, data = measure(commands, max(15, given.runs))
    one, many_ = measure([[*tool, "--format", "json", str(p)] for p in (small, large)], given.runs)
    out += [
        "",
        "| start-up | ms | of `python -c pass` |",
        "| --- | --- | --- |",
        f"| `python -c pass` | {bare.wall * 1000:.1f} | 1 |",
        f"| a pasted traceback, terminal | {shown.wall * 1000:.1f} | {shown.wall / bare.wall:.1f} |",
        f"| a pasted traceback, JSON | {data.wall * 1000:.1f} | {data.wall / bare.wall:.1f} |",
        f"| a log of 1 MiB, JSON | {one.wall * 1000:.1f} | {one.wall / bare.wall:.1f} |",
        f"| a log of 16 MiB, JSON | {many_.wall * 1000:.1f} | {many_.wall / bare.wall:.1f} |",
        "",
    ]
    return "\n".join(out)


if __name__ == "__main__":
    main()
