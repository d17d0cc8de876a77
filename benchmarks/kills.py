"""Kills the supervisor, the keeper or the command of ``troubleshoot run`` at random moments: is a line lost that the command printed?

    python -m benchmarks.kills [--count 1000] [--minutes 10] [--seed 0] [--at-once 2]

Each run prints 3,000 lines, half of them to a terminal. The log must hold each line up to its last one, once and in order, and all of them where
the command was not killed (a keeper that is killed takes its terminal with it). It ends after ``--minutes`` and says how many kills there were.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.intervals import share
from tests.supervise.killing import LINES, is_whole, killed_once

VICTIMS = ("supervisor", "keeper", "command")


def main(words: Sequence[str] | None = None) -> int:
    given = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__.splitlines()[0])
    given.add_argument("--count", type=int, default=1000)
    given.add_argument("--minutes", type=float, default=10.0)
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--at-once", type=int, default=2)
    options = given.parse_args(words)
    end = time.time() + 60 * options.minutes
    with ProcessPoolExecutor(options.at_once) as pool:
        asked = [pool.submit(_kill, options.seed, number, end) for number in range(options.count)]
        rows = [row for one in asked if (row := one.result()) is not None]
    lost = [row for row in rows if not row[-1]]
    for row in lost:
        print("lost:", *row[:-1])
    by_victim = Counter(victim for _, victim, _ in rows)
    print(
        f"kills {len(rows)} ({', '.join(f'{name} {by_victim[name]}' for name in VICTIMS)}); lines lost in {len(lost)} ({share(len(lost), len(rows))})"
    )
    return 1 if lost else 0


def _kill(seed: int, number: int, end: float) -> tuple[int, str, bool] | None:
    """The number, the victim and whether no line was lost; None if the time is up."""
    if time.time() > end:
        return None
    chance = random.Random(f"{seed} {number}")
    terminal, victim = chance.random() < 0.5, chance.choice(VICTIMS)
    with tempfile.TemporaryDirectory(prefix="kills-", ignore_cleanup_errors=True) as folder:
        log = killed_once(Path(folder) / "run", terminal=terminal, moment=chance.random(), victim=victim)
    whole = victim == "command" or (terminal and victim == "keeper") or log.count(b"\n") == LINES
    return number, victim, is_whole(log) and whole


if __name__ == "__main__":
    sys.exit(main())
