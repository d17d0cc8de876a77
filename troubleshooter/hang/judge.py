"""Compare where the ranks are: which did not arrive, where the others wait, where they diverged, and the kind of cause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from troubleshooter.hang.collectives import MEETING, STORE, collective_of, reaches_for_store
from troubleshooter.hang.parting import is_ahead, left_a_loop, parting, took_a_branch
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.source import blocks_around, source_line
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.paths import installed_file

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
"""``ended``: a rank's process is gone. ``branch``: ranks wait at different places of the code. ``shapes``: all wait in the same
collective, so what they bring differs, or the network does. ``data-ended``: a rank left a loop in which others are.
``meeting``: ranks wait for others that never came to form the group. ``child``: it waits for a process that it started.
``input``: it asks a person. ``stopped``: a process is stopped or traced."""
BUSY = 0.2
"""A process that uses at least this share of a core is computing."""
_LEAVING = frozenset(("destroy_process_group", "_shutdown", "_exit_function", "_run_exitfuncs", "shutdown"))
_STANDARD = re.compile(r".*/python3(?:\.\d+)?/|<frozen ")
_LOADER = ("torch/utils/data/", "datasets/iterable_dataset.py")
_QUEUES = ("multiprocessing/queues.py", "multiprocess/queues.py")
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
_ENTERS = re.compile(r"flock|lockf|\.acquire\(|\.join\(|\.wait\(|with \w*lock|^with [\w.]+(?: as \w+)?:")
"""What takes a lock or waits for a thread. ``with name:`` enters something that was made before: what it opens itself is called there."""
_DATABASE = re.compile(r"\.(?:execute|executemany|executescript|commit)\(")
_LOCKED = re.compile(
    r"(?<![bc])lock|baton|\bmkdir\((?!.*exist_ok)|O_EXCL|\.symlink\(|\bopen\([^()]{0,100}, '[ab]?x", re.IGNORECASE
)
"""A lock, or the attempt to make what must not be there yet: a folder, a file."""
_ASKED = re.compile(r"urlopen\(|\brequests\.|\bhttpx\.|\.(?:connect|create_connection|urlretrieve)\(|\bping\(")
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


_ONE_SIDED = frozenset(("send", "recv", "isend", "irecv", "batch_isend_irecv", STORE))
"""What a rank waits in that concerns one other rank: beside a collective of all, it is the way apart."""


class Standing(NamedTuple):
    """Where a rank is. ``collective``: the collective in which it waits, or "". ``own``: the innermost frame of the run's own code."""

    rank: Rank
    collective: str
    own: StackFrame | None
    innermost: StackFrame | None


class HangVerdict(NamedTuple):
    """``late``: the ranks that did not arrive. ``missing``: numbers of ranks that have no process any more.

    ``collective``: what the others wait in, and ``waiting`` who they are. ``parted``: the own line of each group.
    """

    cause: Cause
    late: list[Standing]
    waiting: list[Standing]
    missing: list[int]
    collective: str
    standing: list[Standing]


def standing_of(rank: Rank) -> Standing:
    stack = rank.stack
    return Standing(
        rank, collective_of(stack), next((f for f in stack if is_own(f)), None), stack[0] if stack else None
    )


def is_own(frame: StackFrame) -> bool:
    """Whether a frame is the run's own code: not that of a package, of Python or of this tool."""
    path = frame.file.replace("\\", "/")
    return (
        installed_file(path) is None
        and not _STANDARD.match(path)
        and not path.startswith("<")
        and not path.endswith("/troubleshooter/hook.py")
    )


def judge(ranks: Sequence[Rank], world: int | None = None, ended_well: bool | None = None) -> HangVerdict:
    """Compare the ranks. ``world``: how many ranks there should be. ``ended_well``: whether the ended ones succeeded, if known.

    If nobody is in a collective, ranks that ended well are done and wait for nothing; for one that failed the others wait, wherever they are.
    """
    standing = [standing_of(rank) for rank in ranks]
    waiting = [one for one in standing if one.collective]
    late = [one for one in standing if not one.collective]
    missing = (
        []
        if not world or not all(rank.numbered for rank in ranks)
        else sorted(set(range(world)) - {r.number for r in ranks})
    )
    if missing or (world and len(ranks) < world):
        if late and not waiting and ended_well:
            return HangVerdict(_cause_of(late), late, [], [], "", standing)
        if missing and not waiting and ended_well is False:
            late = []
        return HangVerdict("ended", late, waiting, missing, _common(waiting), standing)
    if late and not (waiting and all(_leaves(one) for one in late)):
        cause: Cause = _cause_of(late)
        if cause in ("sleeping", "unknown") and waiting and all(one.collective == MEETING for one in waiting):
            cause = "meeting"
        return HangVerdict(cause, late, waiting, [], _common(waiting), standing)
    if late:
        return HangVerdict("data-ended", late, waiting, [], _common(waiting), standing)
    return _all_wait(standing)


def _all_wait(standing: list[Standing]) -> HangVerdict:
    """The verdict if all ranks wait, perhaps at different places: the smaller group then took another branch."""
    if not standing:
        return HangVerdict("unknown", [], [], [], "", [])
    if all(one.collective == MEETING for one in standing):
        outside = [
            one for one in standing if one.rank.numbered and one.rank.number and reaches_for_store(one.rank.stack)
        ]
        late = outside if 2 * len(outside) < len(standing) else []  # rank 0 opens the store, and waits in it
        return HangVerdict("meeting", late, [one for one in standing if one not in late], [], MEETING, standing)
    first, *others = _groups(standing)
    if not others:
        cause: Cause = "unknown" if first[0].collective == STORE else "shapes" if len(standing) > 1 else "network"
        return HangVerdict(cause, [], standing, [], first[0].collective, standing)
    for group in others:
        if len(group) == len(first) and _went_apart(first[0], group[0]):  # as many here as there
            first = group
    apart = [one for one in standing if one not in first]
    left = all(left_a_loop(one.rank.stack, first[0].rank.stack) for one in apart) or all(
        left_a_loop(first[0].rank.stack, one.rank.stack) for one in apart
    )
    return HangVerdict("data-ended" if left else "branch", apart, first, [], first[0].collective, standing)


def _groups(standing: Sequence[Standing]) -> list[list[Standing]]:
    """The ranks by where they wait, the most first. At the same line they may wait for different calls of the function that it is in."""
    groups: dict[tuple[object, ...], list[Standing]] = {}
    for one in standing:
        groups.setdefault((one.collective, *_place(one.own)), []).append(one)
    if len(groups) == 1:
        for one in standing:
            apart = parting(one.rank.stack, standing[0].rank.stack)
            if apart is not None and apart[0].function != "<module>" and is_own(apart[0]):
                groups.setdefault((apart[0],), []).append(one)
        (whole, *parts) = groups.values()
        groups[next(iter(groups))] = [one for one in whole if not any(one in part for part in parts)]
    return sorted(groups.values(), key=len, reverse=True)


def _went_apart(one: Standing, other: Standing) -> bool:
    """Whether ``one`` rather than ``other`` went a way of its own: it waits for a single rank, left a loop early, is in a branch that
    the other one passed by, or came further."""
    if (one.collective in _ONE_SIDED) != (other.collective in _ONE_SIDED):
        return one.collective in _ONE_SIDED
    mine, theirs = one.rank.stack, other.rank.stack
    for sign in (left_a_loop, took_a_branch):
        if sign(mine, theirs) != sign(theirs, mine):
            return sign(mine, theirs)
    ahead = is_ahead(mine, theirs)
    return _place(one.own) > _place(other.own) if ahead is None else ahead


def _cause_of(late: Sequence[Standing]) -> Cause:
    causes = Counter(_cause(one) for one in late)
    return causes.most_common(1)[0][0]


def reads_network(rank: Rank) -> bool:
    """Whether a rank waits for an answer from the network, outside of every collective and not asleep before it asks again."""
    return not asks_again(rank) and not collective_of(rank.stack) and _cause(standing_of(rank)) == "network"


def asks_again(rank: Rank) -> bool:
    """Whether a rank sleeps until it asks the network once more."""
    one = standing_of(rank)
    return not one.collective and _sleeps(rank, source_line(one.innermost)) and _cause(one) == "network"


def runs_event_loop(rank: Rank) -> bool:
    """Whether a rank's main thread waits in an event loop. Its stack does not tell whether a timer or an answer comes next."""
    return any(frame.function == "_run_once" and "asyncio" in frame.file for frame in rank.stack[:4])


def _cause(one: Standing) -> Cause:
    """What a rank does that is in no collective, judged by its frames, its state and the kernel function that it waits in."""
    rank = one.rank
    files = [frame.file.replace("\\", "/") for frame in rank.stack]
    inner = files[:8]
    names = [frame.function for frame in rank.stack[:3]]
    if rank.state in ("T", "t") or any(word in file for file in inner for word in _DEBUGGERS):
        return "stopped"
    if any(word in file for file in files for word in _LOADER):
        return "loader"
    code = source_line(one.innermost)
    if _ASKS.search(code) or any(word in file for file in inner[:4] for word in _PERSONS):
        return "input"
    if any(word in file for file in inner[:5] for word in _QUEUES):
        return "lock"
    if (
        any(word in file for file in inner[:4] for word in _CHILDREN)
        or _STARTS.search(code)
        or rank.kernel == "do_wait"
    ):
        return "child"
    if any(word in file for file in inner for word in _LOCKS) or any(name in _LOCK_NAMES for name in names):
        return "lock"
    if any(word in file for file in inner for word in _NETWORK) or any(
        word in file for file in inner[:2] for word in _EVENT_LOOPS
    ):
        return "network"
    if _sleeps(rank, code):
        return _polls(one, code)
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
    return "nanosleep" in rank.kernel or bool(re.search(r"\bsleep\(", code))


def _polls(one: Standing, code: str) -> Cause:
    """What a rank that sleeps waits for, as the loop around its line says: ``while os.path.exists(lock): sleep(1)``, or one that tries to
    make a folder, or to reach a server."""
    around = blocks_around(one.innermost) if one.innermost is not None else []
    loops = [block for block in around if block.kind == "loop"]
    said = [text for block in loops for text in (block.test, *block.calls)]
    if _DATABASE.search(code) or any(_LOCKED.search(text) for text in said):
        return "lock"
    if any(_ASKED.search(text) for text in said):
        return "network"
    return "file" if any(_FILE_IS_THERE.search(text) for text in said) else "sleeping"


def _leaves(one: Standing) -> bool:
    """Whether a rank is ending: it has left the training loop, or never reached it."""
    return any(frame.function in _LEAVING for frame in one.rank.stack[:6])


def _common(waiting: Sequence[Standing]) -> str:
    return Counter(one.collective for one in waiting).most_common(1)[0][0] if waiting else ""


def _place(frame: StackFrame | None) -> tuple[str, int]:
    return (frame.file, frame.line) if frame is not None else ("", 0)
