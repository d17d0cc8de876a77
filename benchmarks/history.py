"""How fast is a history? ``python -m benchmarks.history [--runs N] [--kills N]``: inserts a minute, each question, writers killed at random.

The runs are made: 1,000 hosts of which three fail more often, 300 jobs, 120 environments that follow each other through a year, 400 kinds
of failures of which a fifth no entry knows, as rare and frequent ones as in real fleets (exponentially distributed). Each question is asked
in a process of its own that has the history open, `REPEATS` times; the median counts.
"""

from __future__ import annotations

import argparse
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from troubleshooter.history.asking import QUESTIONS, Narrowed
from troubleshooter.history.questions import ask
from troubleshooter.history.run_record import RunCause, RunRecord
from troubleshooter.history.store import SECONDS_A_DAY, History

FIRST = 1_735_689_600
"""2025-01-01."""
DAYS = 365
BATCH_RUNS = 24
"""As many as a scan's worker hands over at once."""
REPEATS = 7
BAD_HOSTS = ("node0017", "node0333", "node0801")
FIX_DAY = 200
WRITER = """
import sys
from pathlib import Path
from benchmarks.history import made
from troubleshooter.history.store import History
with History(Path(sys.argv[1])) as history:
    for number, run in enumerate(made(10**9, int(sys.argv[2]))):
        history.add([run._replace(log=f"{sys.argv[2]}/{number}")])
        print(number, flush=True)
"""


def made(count: int, seed: int = 7) -> Iterator[RunRecord]:
    """Runs of a fleet within one year, in the order of time."""
    pick = random.Random(seed)
    environments = [
        {"torch": f"2.{n // 20}.{n // 5 % 4}", "transformers": f"4.{30 + n // 5}.{n % 5}", "trl": f"0.{n // 8}.0", "peft": f"0.{n // 12}.1",
         "accelerate": f"1.{n // 9}.0", "python": "3.11.9", "cuda": "12.4", "numpy": "1.26.4"}
        for n in range(120)
    ]  # fmt: skip
    for number in range(count):
        at = FIRST + (number * DAYS * SECONDS_A_DAY) // max(count, 1) if count < 10**9 else FIRST + number
        day = (at - FIRST) // SECONDS_A_DAY
        host = f"node{pick.randrange(1000):04d}"
        kind = min(399, int(pick.expovariate(1 / 45)))
        failed = pick.random() < (0.7 if host in BAD_HOSTS else 0.35)
        if kind == 3 and day >= FIX_DAY and pick.random() < 0.8:
            failed = False  # the fix of this one helped
        unknown = kind % 5 == 4
        name = f"{kind:012x}" if unknown else f"entry-{kind}"
        cause = RunCause(name, None if unknown else name, f"Failure number {kind} of the benchmark", "unknown" if unknown else "failure", "crash", None)
        yield RunRecord(
            log=f"/logs/{number // 1000}/job-{number}.log", head=f"{number}", stamp="1", bytes=1000, ended=float(at), status=1 if failed else 0,
            job=f"train-{pick.randrange(300)}", host=host, gpu=pick.choice(("H100", "A100", "L40S")), gpu_count=8,
            versions=environments[min(119, int(day / DAYS * 120))], settings={"learning_rate": f"{pick.randrange(1, 6)}e-5", "bf16": "true"},
            cause=cause if failed else None, lost=pick.random() * 20 if failed else None, line=7,
        )  # fmt: skip


def fill(path: Path, count: int) -> tuple[float, float]:
    """Put made runs into a history; the seconds and the seconds of work that it took, without making them."""
    took = worked = 0.0
    with History(path) as history:
        some: list[RunRecord] = []
        for run in made(count):
            some.append(run)
            if len(some) == BATCH_RUNS:
                started, work = time.perf_counter(), time.process_time()
                history.add(some)
                took += time.perf_counter() - started
                worked += time.process_time() - work
                some = []
        history.add(some)
    return took, worked


def questions(path: Path) -> None:
    """Ask each question `REPEATS` times."""
    now = float(FIRST + DAYS * SECONDS_A_DAY)
    plain = Narrowed(cause=None, now=now)
    asked = {
        "failures": plain, "new": plain, "versions": plain, "hosts": plain, "gpus": plain, "unknown": plain, "runs": plain,
        "upgrade": plain._replace(cause="entry-3"), "fix": plain._replace(cause="entry-3", at=float(FIRST + FIX_DAY * SECONDS_A_DAY), days=90),
    }  # fmt: skip
    narrowed = {
        "failures": plain._replace(since=now - 30 * SECONDS_A_DAY), "versions": plain._replace(cause="entry-3"),
        "hosts": plain._replace(cause="entry-3"), "runs": plain._replace(cause="entry-3"),
    }  # fmt: skip
    with History(path, create=False) as history:
        for label, wanted in (("", asked), ("narrowed ", narrowed)):
            for question in QUESTIONS:
                if question not in wanted:
                    continue
                times, works = [], []
                for _ in range(REPEATS):
                    started, worked = time.perf_counter(), time.process_time()
                    rows = ask(history, question, wanted[question]).rows
                    times.append(time.perf_counter() - started)
                    works.append(time.process_time() - worked)
                first = {key: value for key, value in rows[0].items() if key in ("host", "cause", "probability", "verdict", "package", "version")} if rows else {}
                print(f"{label + question:20} {1000 * statistics.median(times):7.1f} ms  (work {1000 * statistics.median(works):.1f}, largest {1000 * max(times):.1f})  {first}")


def kills(path: Path, count: int, writers: int = 2) -> None:
    """Kill writers at random moments. Raises AssertionError where a run that was committed is missing, or the file is damaged."""
    pick = random.Random(11)
    promised = 0
    for number in range(0, count, writers):
        running = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number + n)], stdout=subprocess.PIPE, text=True) for n in range(writers)
        ]
        last = [-1] * writers
        for n, process in enumerate(running):
            assert process.stdout is not None
            last[n] = int(process.stdout.readline() or -1)
        time.sleep(pick.random() * 0.15)
        for process in running:
            process.send_signal(signal.SIGKILL)
        for n, process in enumerate(running):
            assert process.stdout is not None
            told = [int(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
            last[n] = max([last[n], *told])
            process.wait()
        with History(path) as history:
            for n, end in enumerate(last):
                found = history.rows("SELECT count(*) FROM runs WHERE log GLOB ?", (f"{number + n}/*",))[0][0]
                assert found >= end + 1, f"{end + 1} runs were committed, {found} are kept"
                promised += end + 1
    with History(path) as history:
        assert history.check() == "ok"
        kept = history.rows("SELECT count(*) FROM runs")[0][0]
        for of in ("cause", "host", "gpu", "environment"):
            assert history.rows(f"SELECT sum(runs) FROM total_{of}")[0][0] == kept
    print(f"{count} writers killed, {promised} runs were promised, {kept} are kept; integrity ok, summaries right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--file", type=Path, help="keep the made history here, and use it again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if given.kills:
            kills(Path(place) / "killed.sqlite", given.kills)
            return
        path = given.file or Path(place) / "history.sqlite"
        if not path.exists():
            took, worked = fill(path, given.runs)
            print(f"{given.runs:,} runs in batches of {BATCH_RUNS}: {given.runs / took * 60:,.0f} inserts a minute ({given.runs / worked * 60:,.0f} a minute of work); {path.stat().st_size / 1e6:,.0f} MB")
        questions(path)


if __name__ == "__main__":
    main()
