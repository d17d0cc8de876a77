"""Work in forked processes: whatever becomes of them, the results are all there, and nothing waits for a process that died."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.forked import can_fork, mapped
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="nothing is forked here")
ROOT = Path(__file__).parents[2]
ITEMS = list(range(40))
LARGE = b"x" * 300_000
"""More than a pipe holds: whoever waited for its writer or reader in the wrong order would wait for good."""


def large(item: int) -> tuple[int, bytes]:
    return item, LARGE


def in_workers(action: Callable[[int], object]) -> Callable[[int], int]:
    """A function that doubles, and that does something more where it runs in a worker."""
    caller = os.getpid()

    def double(item: int) -> int:
        if os.getpid() != caller:
            action(item)
        return 2 * item

    return double


def killed_at(start: int) -> Callable[[int], object]:
    return lambda item: os.kill(os.getpid(), signal.SIGKILL) if item >= start else None


def fails(item: int) -> None:
    raise ValueError(item)


def test_results_come_in_their_order() -> None:
    assert can_fork()
    assert list(mapped(large, ITEMS, 3)) == [(item, LARGE) for item in ITEMS]


@pytest.mark.parametrize("action", [killed_at(0), killed_at(1), killed_at(20), fails, lambda item: os._exit(0)])
def test_what_a_dead_worker_leaves_undone_is_done_here(action: Callable[[int], object]) -> None:
    assert list(mapped(in_workers(action), ITEMS, 3)) == [2 * item for item in ITEMS]


def test_a_result_that_cannot_be_sent_is_made_here() -> None:
    assert [made(2) for made in mapped(lambda item: lambda more: item * more, ITEMS[:5], 2)] == [0, 2, 4, 6, 8]


def test_no_process_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)
    assert list(mapped(in_workers(fails), ITEMS, 3)) == [2 * item for item in ITEMS]


FAILS = """
import os
from kb.forked import mapped

def fails(item):
    raise ValueError(item)

try:
    list(mapped(fails, [0, 1, 2, 3, 4, 5], 3))
except ValueError as error:
    print("raised", error)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no worker stays")
"""


def test_an_error_is_raised_to_the_caller_and_no_worker_stays() -> None:
    # In a process of its own: this one has children that other tests started.
    done = subprocess.run([sys.executable, "-c", FAILS], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout.splitlines(), done.stderr) == (["raised 0", "no worker stays"], "")


COMPILES = """
import os, signal, sys
from pathlib import Path
import kb.compile.folder as compiling

caller, load = os.getpid(), compiling.load_entry

def killed(*words):
    if os.getpid() != caller:
        os.kill(os.getpid(), signal.SIGKILL)
    return load(*words)

compiling.load_entry, compiling.MIN_PARALLEL, compiling.CHUNK = killed, 1, 1
from kb.cache import pack
print(len(pack(Path(sys.argv[1]), "own").index.ids))
"""


def test_entries_are_compiled_although_every_worker_dies_at_its_start(tmp_path: Path) -> None:
    area = tmp_path / "entries/harmless"
    shutil.copytree(Path(__file__).parents[2] / "entries/harmless", area)
    done = subprocess.run(
        [sys.executable, "-c", COMPILES, str(area.parent)], env={**os.environ, "TROUBLESHOOT_CACHE": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.stderr == ""
    assert int(done.stdout) == len(list(area.glob("*/entry.yaml")))
