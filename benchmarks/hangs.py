"""Runs scripts of 2 to 4 ranks that really hang under ``troubleshoot run``: which rank, and which class of cause?

    python -m benchmarks.hangs --python PYTHON [--set first|fresh] [--only NAME...] [--at-once 3] [--write FILE]

None of these kinds is among those of the tests, on which the rules were made. `CASES` and `FRESH` were written before their first
run. A case is right in its rank if the verdict's late ranks are exactly the culprit, and in its class if the verdict's cause is one of the given.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.intervals import share

ROOT = Path(__file__).parents[1]
LIMIT_SECONDS = 240.0


class Hang(NamedTuple):
    """``culprit``: the rank that runs ``code``; ``causes``: the classes that are right."""

    name: str
    ranks: int
    culprit: int
    causes: tuple[str, ...]
    code: str
    before: str = ""
    """What the culprit does before the process group is formed."""


_WAIT = "import socket\nserver = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()\n"
_ROWS = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"
CASES = (
    Hang("barrier-instead", 3, 1, ("branch",), "dist.barrier()"),
    Hang("receives-from-nobody", 3, 2, ("branch",), "dist.recv(tensor, src=0)"),
    Hang("gather-instead", 4, 0, ("branch",), "dist.all_gather([torch.ones(4) for _ in range(ranks)], tensor)"),
    Hang("reduce-of-another-function", 4, 3, ("branch", "shapes"), "def evaluate():\n    dist.broadcast(tensor, 1)\nevaluate()"),
    Hang("queue", 2, 0, ("lock",), "import queue\nqueue.Queue().get()"),
    Hang("event", 3, 1, ("lock",), "import threading\nthreading.Event().wait()"),
    Hang("joins-a-thread", 2, 1, ("lock",), "import threading\nhold = threading.Event()\nthread = threading.Thread(target=hold.wait, daemon=True); thread.start(); thread.join()"),
    Hang("pipe", 2, 0, ("file",), "read, write = os.pipe()\nos.read(read, 1)"),
    Hang("stuck-pool", 2, 1, ("lock", "loader"), "import multiprocessing\nmultiprocessing.get_context('fork').Pool(1).apply(time.sleep, (900,))"),
    Hang("answer-never-comes", 3, 0, ("network",), _WAIT + "import urllib.request\nurllib.request.urlopen(f'http://127.0.0.1:{server.getsockname()[1]}/').read()"),
    Hang("accepts", 2, 1, ("network",), _WAIT + "server.accept()"),
    Hang("selects", 4, 2, ("network",), _WAIT + "import select\nselect.select([server], [], [])"),
    Hang("retries-forever", 2, 0, ("computing",), "def converge(value):\n    while value > 0:\n        value = (value * 7 + 3) % 1000003 or 1\nconverge(5)"),
    Hang("multiplies-forever", 2, 1, ("computing",), "rows = torch.randn(64, 64)\nwhile True:\n    rows = torch.tanh(rows @ rows)"),
    Hang("stopped", 3, 0, ("stopped",), "import signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    Hang("backs-off", 4, 3, ("sleeping",), "def backoff(seconds):\n    time.sleep(seconds)\nbackoff(900)"),
    Hang("iterable-loader", 2, 0, ("loader",), _ROWS + "class Rows(IterableDataset):\n    def __iter__(self):\n        os.read(os.pipe()[0], 1)\n        yield 1\nlist(DataLoader(Rows(), num_workers=1))"),
    Hang("two-workers", 3, 2, ("loader",), _ROWS + "class Rows(Dataset):\n    def __len__(self): return 8\n    def __getitem__(self, at):\n        if at == 3: time.sleep(900)\n        return at\nlist(DataLoader(Rows(), num_workers=2))"),
    Hang("lock-of-another", 2, 1, ("lock",), "import fcntl\nheld = open(folder + '/held', 'w')\nif os.fork() == 0:\n    mine = open(folder + '/held', 'w'); fcntl.flock(mine, fcntl.LOCK_EX); open(folder + '/ready', 'w'); time.sleep(900)\nwhile not os.path.exists(folder + '/ready'): time.sleep(0.05)\nfcntl.flock(held, fcntl.LOCK_EX)"),
    Hang("never-joins", 3, 0, ("meeting",), "", "time.sleep(900)"),
)  # fmt: skip

FRESH = (
    Hang("new-group-alone", 3, 2, ("meeting", "branch"), "dist.new_group([0, 1, 2])"),
    Hang("semaphore", 2, 1, ("lock",), "import multiprocessing\nmultiprocessing.Semaphore(0).acquire()"),
    Hang("two-locks", 3, 0, ("lock",), "import threading\none, other, both = threading.Lock(), threading.Lock(), threading.Barrier(2)\ndef take(first, second):\n    with first:\n        both.wait()\n        second.acquire()\nthreading.Thread(target=take, args=(one, other), daemon=True).start()\ntake(other, one)"),
    Hang("runs-a-program", 2, 0, ("child",), "import subprocess\nsubprocess.run(['sleep', '900'])"),
    Hang("waits-for-its-fork", 4, 1, ("child",), "child = os.fork()\nif child == 0: time.sleep(900)\nos.waitpid(child, 0)"),
    Hang("fifo-without-reader", 2, 1, ("file",), "os.mkfifo(folder + '/rows')\nopen(folder + '/rows', 'w')"),
    Hang("datagram", 3, 2, ("network",), "import socket\nserver = socket.socket(type=socket.SOCK_DGRAM); server.bind(('127.0.0.1', 0))\nserver.recvfrom(100)"),
    Hang("event-of-asyncio", 2, 0, ("lock", "network"), "import asyncio\nasync def wait(): await asyncio.Event().wait()\nasyncio.run(wait())"),
    Hang("pool-of-futures", 3, 1, ("lock", "loader", "child"), "import multiprocessing\nfrom concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor(2, multiprocessing.get_context('fork')).submit(time.sleep, 900).result()"),
    Hang("pattern-backtracks", 2, 1, ("computing",), "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')"),
    Hang("thread-at-the-end", 4, 3, ("data-ended", "lock"), "import threading\nthreading.Thread(target=threading.Event().wait).start()\nsys.exit(0)"),
    Hang("loader-with-a-held-lock", 2, 0, ("loader",), _ROWS + "import threading\nlock = threading.Lock()\nclass Rows(Dataset):\n    def __len__(self): return 8\n    def __getitem__(self, at):\n        with lock: return at\nwith lock: list(DataLoader(Rows(), num_workers=2))"),
    Hang("file-never-comes", 3, 0, ("sleeping", "file"), "while not os.path.exists(folder + '/done'):\n    time.sleep(1)"),
    Hang("large-send", 2, 1, ("branch",), "dist.send(torch.ones(1 << 24), 0)"),
)  # fmt: skip
"""Written before their first run, after the rules had been changed on `CASES`."""
SETS = {"first": CASES, "fresh": FRESH}

_SCRIPT = """\
import ctypes, os, sys, time
import torch
import torch.distributed as dist
ctypes.CDLL(None).prctl(1, 9)
rank, ranks, folder = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["HANG_FOLDER"]

def stuck(tensor):
    if rank == {culprit}:
        open(folder + "/stalled", "w").close()
{code}

if rank == {culprit}:
    {before}
dist.init_process_group("gloo", init_method=f"file://{{folder}}/store", rank=rank, world_size=ranks)
tensor = torch.ones(4)
for step in range(3):
    dist.all_reduce(tensor)
    print("step", step, "loss 2.3", flush=True)
stuck(tensor)
dist.all_reduce(tensor)
"""
_LAUNCH = """\
import os, subprocess, sys
ranks = int(sys.argv[2])
for one in [
    subprocess.Popen([sys.executable, sys.argv[1]], env=dict(os.environ, RANK=str(at), WORLD_SIZE=str(ranks), HANG_FOLDER=sys.argv[3]))
    for at in range(ranks)
]:
    one.wait()
"""


def main(words: Sequence[str] | None = None) -> int:
    given = argparse.ArgumentParser(prog="python -m benchmarks.hangs", description=__doc__.splitlines()[0])
    given.add_argument("--python", default=sys.executable)
    given.add_argument("--set", choices=SETS, default="first")
    given.add_argument("--only", nargs="*", default=[])
    given.add_argument("--at-once", type=int, default=3)
    given.add_argument("--hang-after", type=float, default=5.0)
    given.add_argument("--write", type=Path)
    options = given.parse_args(words)
    cases = [case for case in SETS[options.set] if not options.only or case.name in options.only]
    with ThreadPoolExecutor(options.at_once) as pool:
        rows = list(pool.map(lambda case: _run(case, options), cases))
    for row in rows:
        print(json.dumps(row))
    right_rank, right_class = sum(row["rank"] for row in rows), sum(row["class"] for row in rows)
    print(f"rank right {right_rank} of {len(rows)} ({share(right_rank, len(rows))}); class right {right_class} of {len(rows)} ({share(right_class, len(rows))})")  # fmt: skip
    if options.write is not None:
        options.write.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def _run(case: Hang, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="hang-") as name:
        folder = Path(name)
        code = "\n".join("        " + line for line in (case.code or "pass").split("\n"))
        (folder / "train.py").write_text(_SCRIPT.format(culprit=case.culprit, code=code, before=case.before or "pass"))
        (folder / "launch.py").write_text(_LAUNCH)
        words = [
            sys.executable, "-m", "troubleshooter", "run", "--lang", "en", "--log", str(folder / "run"), "--hang-after", str(options.hang_after),
            "--stop-early", "--", options.python, "launch.py", "train.py", str(case.ranks), str(folder),
        ]  # fmt: skip
        started = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        running = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        verdict: dict[str, Any] = {}
        found = folder / "run/hang.json"
        while running.poll() is None and time.monotonic() - started < LIMIT_SECONDS:
            time.sleep(0.2)
        if running.poll() is None:
            running.kill()
        if found.exists():
            verdict = json.loads(found.read_text())
        stalled = folder / "stalled"
        noticed = round(found.stat().st_mtime - stalled.stat().st_mtime, 1) if found.exists() and stalled.exists() else None
        late = sorted({*verdict.get("late", []), *verdict.get("missing", [])})
        return {
            "name": case.name, "ranks": case.ranks, "culprit": case.culprit, "late": late, "cause": verdict.get("cause"),
            "rank": late == [case.culprit], "class": verdict.get("cause") in case.causes, "noticed_s": noticed,
            "seconds": round(time.monotonic() - started, 1),
        }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
