"""What a rank does that is in no collective: the kind of cause, told by its frames, its state and the kernel function that it waits in."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Literal

from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.source import blocks_around, source_line
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.hang.standing import Standing, standing_of

Cause = Literal[
    "ended",
    "branch",
    "shapes",
    "data-ended",
    "loader",
    "lock",
    "file",
    "network",
    "computing",
    "sleeping",
    "child",
    "meeting",
    "input",
    "stopped",
    "unknown",
]
"""``ended``: a rank's process is gone, or runs another program. ``branch``: ranks wait at different places of the code. ``shapes``: all wait in the same
collective, so what they bring differs, or the network does. ``data-ended``: a rank left a loop in which others are.
``meeting``: ranks wait for others that never came to form the group, or for somebody to set a key of the store. ``child``: it waits for a process that it started.
``input``: it asks a person. ``stopped``: a process is stopped or traced."""
BUSY = 0.2
"""A process that uses at least this share of a core is computing."""
_LOADER = ("torch/utils/data/", "datasets/iterable_dataset.py")
_QUEUES = ("multiprocessing/queues.py", "multiprocess/queues.py")
_OWN_QUEUE = re.compile(r".*/python3(?:\.\d+)?/queue\.py$")
_CHILDREN = (
    "/subprocess.py",
    "multiprocessing/popen_",
    "multiprocessing/connection.py",
    "multiprocess/popen_",
    "multiprocess/connection.py",
)
_STARTS = re.compile(r"\bos\.(?:wait(?:pid|id|3|4)?|system|popen|spawn\w{1,3})\(|\.communicate\(")
_PERSONS = ("getpass.py", "prompt_toolkit/", "click/termui.py")
_ASKS = re.compile(r"(?<![\w.])(?:raw_)?input\(|\bstdin\.read")
_LOCKS = ("filelock/", "fasteners/", "portalocker/")
_LOCK_NAMES = frozenset(("acquire", "flock", "lockf", "__enter__", "_wait_for_tstate_lock"))
_NETWORK = (
    "socket.py",
    "ssl.py",
    "http/client.py",
    "urllib3/",
    "requests/",
    "httpx/",
    "httpcore/",
    "huggingface_hub/",
    "urllib/request.py",
    "aiohttp/",
    "fsspec/",
)
_EVENT_LOOPS = ("/selectors.py", "asyncio/base_events.py", "uvloop/")
_MEETS = re.compile(r"\b(?:TCPStore|init_rpc)\(")
"""Waits until all ranks are there, in C++ and by sleeping."""
_FILE_LOCK = re.compile(r"\b(?:flock|lockf)\(")
_ENTERS = re.compile(r"flock|lockf|\.acquire\(|\.join\(|\.wait\(|with \w*lock|^with [\w.]+(?: as \w+)?:")
"""What takes a lock or waits for a thread. ``with name:`` enters something that was made before: what it opens itself is called there."""
_WAITS_FOR_SIGNAL = re.compile(r"\bsignal\.pause\(|\bsig(?:timed)?wait(?:info)?\(")
_DATABASE = re.compile(r"\.(?:execute|executemany|executescript|commit)\(")
_LOCKED = re.compile(
    r"(?<![bc])lock|baton|\bmkdir\((?!.*exist_ok)|O_EXCL|\.symlink\(|\bopen\([^()]{0,100}, '[ab]?x", re.IGNORECASE
)
"""A lock, or the attempt to make what must not be there yet: a folder, a file."""
_ASKED = re.compile(r"urlopen\(|\brequests\.|\bhttpx\.|\.(?:connect|create_connection|urlretrieve)\(|\bping\(")
_ENDED = re.compile(r"\.(?:poll|is_alive)\(\)|\.returncode\b|\bWNOHANG\b")
"""Asks whether a process that was started has ended."""
_FILE_IS_THERE = re.compile(r"\.(?:exists|is_file|isfile|is_dir|isdir|glob|listdir|stat)\(")
_FILES = ("torch/serialization.py", "safetensors/", "shutil.py", "torch/distributed/checkpoint/")
_DEBUGGERS = ("pdb.py", "bdb.py", "debugpy/", "pydevd", "IPython/terminal/")
_DISK_WAITS = (
    "nfs",
    "rpc_wait",
    "io_schedule",
    "fuse",
    "lustre",
    "folio_wait",
    "ext4",
    "xfs",
    "balance_dirty",
    "flock",
    "locks_lock",
    "pipe_read",
    "pipe_write",
    "pipe_wait",
    "wait_for_partner",
)


def reads_network(rank: Rank) -> bool:
    """Whether a rank waits for an answer from the network, outside of every collective and not asleep before it asks again."""
    if asks_again(rank) or collective_of(rank.stack):
        return False
    return runs_event_loop(rank) or cause_of(standing_of(rank)) == "network"


def asks_again(rank: Rank) -> bool:
    """Whether a rank sleeps until it asks the network once more."""
    one = standing_of(rank)
    return not one.collective and _sleeps(rank, source_line(one.innermost)) and cause_of(one) == "network"


def waits_outside(one: Standing) -> bool:
    """Whether a rank waits for what another process does outside of torch: for a lock of the file system, or, asking again and again, for a file."""
    rank, code = one.rank, source_line(one.innermost)
    if one.collective or not rank.stack:
        return False
    files = [frame.file.replace("\\", "/") for frame in rank.stack[:8]]
    if any(word in file for file in files for word in _LOCKS) or _FILE_LOCK.search(code):
        return True
    return _sleeps(rank, code) and awaited_by_polling(one, code) in ("lock", "file")


def asks_for_its_end(one: Standing) -> bool:
    """Whether a rank sleeps until it asks once more whether a process that it started has ended."""
    code = source_line(one.innermost)
    return not one.collective and _sleeps(one.rank, code) and awaited_by_polling(one, code) == "child"


def runs_event_loop(rank: Rank) -> bool:
    """Whether a rank's main thread waits in an event loop. Its stack does not tell whether a timer or an answer comes next."""
    return any(frame.function == "_run_once" and "asyncio" in frame.file for frame in rank.stack[:4])


def cause_of(one: Standing) -> Cause:
    """What a rank does that is in no collective, judged by its frames, its state and the kernel function that it waits in."""
    rank = one.rank
    files = [frame.file.replace("\\", "/") for frame in rank.stack]
    if rank.state in ("T", "t") or any(word in file for file in files[:8] for word in _DEBUGGERS):
        return "stopped"
    if rank.program:
        return "ended"
    if any(map(_is_of_loader, rank.stack)):
        called = itertools.takewhile(lambda frame: not _is_of_loader(frame), rank.stack)
        found = _cause_in(one, files) if any(map(is_own, called)) else "unknown"
        return "loader" if found == "unknown" else found
    return _cause_in(one, files)


def _is_of_loader(frame: StackFrame) -> bool:
    return any(word in frame.file.replace("\\", "/") for word in _LOADER)


def _cause_in(one: Standing, files: Sequence[str]) -> Cause:
    """The cause of a rank that does not wait for workers of a data loader, if it is in one at all: without workers, the run's own code prepares the rows
    in the rank itself."""
    rank = one.rank
    inner = files[:8]
    names = [frame.function for frame in rank.stack[:3]]
    code = source_line(one.innermost)
    if _ASKS.search(code) or any(word in file for file in inner[:4] for word in _PERSONS):
        return "input"
    if any(word in file for file in inner[:5] for word in _QUEUES) or any(map(_OWN_QUEUE.match, inner[:3])):
        return "lock"
    if (
        any(word in file for file in inner[:4] for word in _CHILDREN)
        or _STARTS.search(code)
        or rank.kernel == "do_wait"
    ):
        return "child"
    if any(word in file for file in inner for word in _LOCKS) or any(name in _LOCK_NAMES for name in names):
        return "lock"
    if runs_event_loop(rank) and rank.awaits_program:
        return "child"
    if any(word in file for file in inner for word in _NETWORK) or any(
        word in file for file in inner[:2] for word in _EVENT_LOOPS
    ):
        return "network"
    if _MEETS.search(code):
        return "meeting"
    if _sleeps(rank, code):
        return awaited_by_polling(one, code)
    if _ENTERS.search(code):
        return "lock"
    if re.search(
        r"\.recv(?:from|msg)?(?:_into)?\(|\.accept\(|\.connect\(|\bselect\(|\.poll\(|urlopen\(|requests\.", code
    ):
        return "network"
    if (
        rank.state == "D"
        or any(word in rank.kernel for word in _DISK_WAITS)
        or any(word in file for file in inner for word in _FILES)
    ):
        return "lock" if "lock" in rank.kernel else "file"
    if re.search(r"\bopen\(|\.(?:read|write|flush)(?:lines?)?\(", code) and rank.cpu < BUSY:
        return "file"
    if rank.cpu >= BUSY or rank.state == "R":
        return "computing"
    return "lock" if "futex" in rank.kernel and not any("/torch/" in file for file in files[:1]) else "unknown"


def _sleeps(rank: Rank, code: str) -> bool:
    return "nanosleep" in rank.kernel or bool(re.search(r"\bsleep\(", code) or _WAITS_FOR_SIGNAL.search(code))


def awaited_by_polling(one: Standing, code: str) -> Cause:
    """What a rank that sleeps waits for, as the loop around its line says: ``while os.path.exists(lock): sleep(1)``, or one that tries to
    make a folder, or to reach a server."""
    around = blocks_around(one.innermost) if one.innermost is not None else []
    loops = [block for block in around if block.kind == "loop"]
    said = [text for block in loops for text in (block.test, *block.calls)]
    if _DATABASE.search(code) or any(_LOCKED.search(text) for text in said):
        return "lock"
    if any(_ASKED.search(text) for text in said):
        return "network"
    if any(_ENDED.search(text) for text in said):
        return "child"
    return "file" if any(_FILE_IS_THERE.search(text) for text in said) else "sleeping"
