"""A trial's command that misbehaves: it is ended, nothing of it stays, and one sentence says why."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kb.errors import UsageError
from tests.waiting import wait_for
from troubleshooter.bisect.process import CommandEnd, run

MANY_SECONDS = 120.0


def ran(code: str, folder: Path, seconds: float = MANY_SECONDS, **limits: int) -> CommandEnd:
    return run([sys.executable, "-c", code], seconds, os.environ, folder, **limits)


def gone(pid: int) -> bool:
    """Whether a process ended; one that waits to be reaped counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def test_a_command_that_asks_for_input_gets_none(tmp_path: Path) -> None:
    end = ran("import sys; print(sys.stdin.isatty(), sys.stdout.isatty()); input('go on? ')", tmp_path)
    assert (end.status, end.stopped) == (1, "")
    assert "False False" in end.output
    assert "EOFError" in end.output


@pytest.mark.skipif(os.name != "posix", reason="opens /dev/tty")
def test_a_command_has_no_terminal_to_open(tmp_path: Path) -> None:
    end = ran("open('/dev/tty')", tmp_path)
    assert end.status == 1
    assert "OSError" in end.output


def test_a_command_that_fills_the_disk_is_stopped(tmp_path: Path) -> None:
    code = (
        "import os, time\nwith open(os.environ['TMPDIR'] + '/full', 'wb') as file:\n"
        "    for _ in range(512): file.write(os.urandom(1 << 20))\n    file.flush()\n    os.fsync(file.fileno())\ntime.sleep(600)"
    )
    end = ran(code, tmp_path, disk_bytes=1 << 26)
    assert end.status is None
    assert end.stopped == "it filled the disk with more than 0.0625 GiB"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.slow
def test_a_command_that_forks_out_of_its_group_leaves_nothing(tmp_path: Path) -> None:
    """The command ends by itself once all eight have said who they are: no clock decides what there is to end."""
    code = (
        "import os, time\nheard, told = os.pipe()\nfor _ in range(8):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0:\n            os.write(1, b'left %d\\n' % os.getpid())\n            os.write(told, b'x')\n"
        "            time.sleep(600)\n        os._exit(0)\nseen = 0\nwhile seen < 8: seen += len(os.read(heard, 8))\nos._exit(3)"
    )
    end = ran(code, tmp_path)
    assert (end.status, end.stopped) == (3, "")
    left = [int(line.split()[1]) for line in end.output.splitlines() if line.startswith("left ")]
    assert len(left) == 8, end.output
    wait_for(lambda: all(gone(pid) for pid in left))


def test_of_a_command_that_prints_without_end_the_last_part_is_kept(tmp_path: Path) -> None:
    end = ran("for at in range(1 << 19): print('line', at)\nraise ValueError('at the end')", tmp_path)
    assert end.status == 1
    assert len(end.output) <= 1 << 20
    assert end.output.rstrip().endswith("ValueError: at the end")


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no-such-program cannot be started"):
        run(["no-such-program"], 5, os.environ, tmp_path)
