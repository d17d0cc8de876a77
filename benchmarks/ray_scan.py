"""What Ray costs and gains: ``python -m benchmarks.ray_scan [--small 10000] [--large 100] [--workers 1,2]``.

Small logs (0.5 to 8 KB) and large ones (8 MiB) are scanned by 1 to N workers, plainly and on a new Ray cluster of this machine. For each scan:
seconds by the clock, CPU seconds of all its processes (Ray's servers included; seen twice a second, so a little too few), and the start-up (a scan of one log), which is
taken off. The CPU seconds tell what a shared machine does to the clock.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks import logs

KINDS = ("plain", "ray")


class Cost(NamedTuple):
    """Seconds of one scan."""

    wall: float
    cpu: float


def make(folder: Path, count: int, least: int, most: int) -> None:
    """So many logs of a training that fails, of ``least`` to ``most`` bytes."""
    pick = random.Random(7)
    line = "step {n} | loss 1.{n:04d} | grad_norm 0.3{n} | lr 2e-05 | tokens/s 10{n}\n"
    for number in range(count):
        size = pick.randrange(least, most + 1)
        body = "".join(line.format(n=n) for n in range(size // 64)) if size < 100_000 else line.format(n=number) * (size // 64)
        path = folder / f"g{number % 100}" / f"job-{number}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode() + (logs.FAILURE if number % 2 else b"done\n"))


def cost(folder: Path, kind: str, workers: int, record: Path) -> Cost:
    """One scan from the beginning."""
    record.unlink(missing_ok=True)
    command = [sys.executable, "-m", "troubleshooter", "scan", str(folder), "--record", str(record), "--jobs", str(workers), "--format", "json"]
    mark = f"RAY_SCAN_BENCHMARK={time.time_ns()}"
    name, _, value = mark.partition("=")
    seen: dict[str, float] = {}
    start = time.perf_counter()
    with subprocess.Popen(
        [*command, *(["--on", "ray"] if kind == "ray" else [])], stdout=subprocess.DEVNULL, env={**os.environ, name: value}
    ) as scan:
        while scan.poll() is None:
            seen.update(spent(mark))
            with suppress(subprocess.TimeoutExpired):
                scan.wait(0.5)
    wall = time.perf_counter() - start
    assert scan.returncode in (0, 1), command
    return Cost(wall, sum(seen.values()))


def spent(mark: str) -> dict[str, float]:
    """By process: the CPU seconds of those whose environment has this mark (Linux). Ray's servers are nobody's children."""
    found = {}
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
                found[process.name] = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=100)
    parser.add_argument("--workers", default=",".join(str(n) for n in sorted({1, os.cpu_count() or 1})))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        make(root / "one", 1, 500, 8000)
        sets = [("small", given.small, 500, 8000), ("large", given.large, 8 << 20, 8 << 20)]
        for name, count, least, most in sets:
            make(root / name, count, least, most)
        cost(root / "one", "plain", 1, root / "record")  # the entries are compiled now
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for workers in map(int, given.workers.split(",")):
            starts = {kind: cost(root / "one", kind, workers, root / "record") for kind in KINDS}
            for kind, start in starts.items():
                print(f"{workers} workers, {kind:5}: start-up {start.wall:.1f} s, {start.cpu:.1f} s of CPU", flush=True)
            for name, count, _, _ in sets:
                for kind in KINDS if count else ():
                    whole = cost(root / name, kind, workers, root / "record")
                    wall, cpu = whole.wall - starts[kind].wall, whole.cpu - starts[kind].cpu
                    print(
                        f"{workers} workers, {kind:5}: {count} {name} logs {whole.wall:.1f} s, {whole.cpu:.1f} s of CPU; "
                        f"beyond the start-up {wall:.1f} s, {cpu:.1f} s of CPU",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
