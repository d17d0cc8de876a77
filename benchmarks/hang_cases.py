"""The first two sets of scripts of 2 to 4 ranks that hang. None of these kinds is among those of the tests, on which the rules were made."""

from __future__ import annotations

from typing import NamedTuple


class Hang(NamedTuple):
    """``culprit``: the rank that runs ``code``, or the ranks that do, or none; ``causes``: the classes that are right."""

    name: str
    ranks: int
    culprit: int | tuple[int, ...]
    causes: tuple[str, ...]
    code: str = ""
    before: str = ""
    """What the culprit does before the process group is formed."""
    everyone: str = ""
    """What all ranks run instead of ``code``. ``culprit`` says whether a rank is one, and ``stalls()`` notes the time of the stall."""
    size: str = "ranks"
    """The world size that the ranks give."""
    launch: str = "ranks"
    """What starts the ranks: ``ranks`` for one process each with ``RANK`` set, ``torchrun``, or ``alone`` if the script does it itself."""
    packages: tuple[str, ...] = ()
    """Folders of further packages that the script imports, by their names below ``--packages``."""
    whole: str = ""
    """The whole script, instead of the usual frame around ``code``. It may call ``places(rank)``."""

    @property
    def culprits(self) -> tuple[int, ...]:
        return (self.culprit,) if isinstance(self.culprit, int) else self.culprit


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
