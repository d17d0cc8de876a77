"""Runs healthy scripts that are silent for a while under ``troubleshoot run --hang-after``: nothing may be told.

    python -m benchmarks.healthy_runs --python PYTHON [--set first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth] [--seeds 0-99] [--hang-after 3] [--silent 9] [--at-once 4] [--write FILE]

The silence is three times ``--hang-after``, as for a user who sets 5 minutes and evaluates for 15. ``PYTHON`` has torch.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.healthy import eighth, fifth, first, fourth, ninth, second, seventh, sixth, tenth, third
from benchmarks.intervals import share

ROOT = Path(__file__).parents[1]
SETS = {"first": first, "second": second, "third": third, "fourth": fourth, "fifth": fifth, "sixth": sixth, "seventh": seventh, "eighth": eighth,
        "ninth": ninth, "tenth": tenth}
"""The second and third sets have other kinds than those on which the rules were made, the fourth loops of packages, the fifth ranks that poll, the sixth
workers whose own loops take long, the seventh programs that take our signal, stages, and calls of other ranks, the eighth pools
that renew their workers, processes that are tried again, and threads that meet, the ninth trainings and saves in threads, what one rank does
first, and objects that are long in pickling, the tenth programs that a script looks after, event loops, and groups that are formed late."""
LIMIT_SECONDS = 300.0


def main(words: Sequence[str] | None = None) -> int:
    given = argparse.ArgumentParser(prog="python -m benchmarks.healthy_runs", description=__doc__.splitlines()[0])
    given.add_argument("--python", default=sys.executable)
    given.add_argument("--set", choices=SETS, default="first")
    given.add_argument("--seeds", default="0-99")
    given.add_argument("--hang-after", type=float, default=3.0)
    given.add_argument("--silent", type=float, default=9.0)
    given.add_argument("--at-once", type=int, default=4)
    given.add_argument("--write", type=Path)
    options = given.parse_args(words)
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    with ThreadPoolExecutor(options.at_once) as pool:
        rows = list(pool.map(lambda seed: _run(seed, options), seeds))
    for row in rows:
        if row["alarm"] or row["status"] or not row["ended"]:
            print(json.dumps(row))
    alarms = sum(row["alarm"] for row in rows)
    failed = sum(bool(row["status"]) or not row["ended"] or re.search(r"(?m)^troubleshoot", row["told"]) is not None for row in rows)
    print(f"alarms {alarms} of {len(rows)} ({share(alarms, len(rows))}); other trouble {failed}; kinds {len({row['kind'] for row in rows})}")
    if options.write is not None:
        options.write.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if alarms or failed else 0


def _run(seed: int, options: argparse.Namespace) -> dict[str, Any]:
    started = time.monotonic()
    kinds = SETS[options.set].KINDS
    kind = kinds[seed % len(kinds)].name
    with tempfile.TemporaryDirectory(prefix="healthy-") as folder:
        log = Path(folder) / "run"
        words = [
            sys.executable, "-m", "troubleshooter", "run", "--lang", "en", "--log", str(log), "--hang-after", str(options.hang_after),
            "--", options.python, "-m", "benchmarks.healthy.script", options.set, str(seed), str(options.silent),
        ]  # fmt: skip
        running = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        if kind == "debugger":
            time.sleep(options.silent)
        told = ""
        try:
            out, err = running.communicate(b"c\n", timeout=LIMIT_SECONDS)
            told = err.decode(errors="replace")
        except subprocess.TimeoutExpired:
            running.kill()
            out, _ = running.communicate()
        hang = log / "hang.json"
        return {
            "seed": seed, "kind": kind, "status": running.returncode, "ended": b"done" in out, "alarm": hang.exists(), "told": told if len(told) < 3000 else f"{told[:600]} … {told[-2400:]}",
            "cause": json.loads(hang.read_text())["cause"] if hang.exists() else None, "seconds": round(time.monotonic() - started, 1),
        }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
