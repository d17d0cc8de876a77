"""`troubleshoot run` does a run no harm: kills, full disks, closed readers, long lines, much output; and results are the same."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervise.killing import LINES, is_whole, killed_once
from tests.supervise.running import COMMAND, ENVIRONMENT, OnTerminal, children_of, run, script
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a keeper needs /proc and fork")
TRACEBACK = "AttributeError: 'HybridCache' object has no attribute 'float'"


def limit_files() -> None:
    """No file may grow beyond 100,000 bytes, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_a_full_disk_costs_the_log_and_nothing_else(tmp_path: Path) -> None:
    code = f"for i in range(40000): print(i)\nprint({TRACEBACK!r}); raise SystemExit(1)"
    done = run(tmp_path / "a", *script(code), preexec_fn=limit_files)
    assert done.returncode == 1
    assert done.stdout == b"".join(b"%d\n" % i for i in range(40000)) + TRACEBACK.encode() + b"\n"
    assert b"cache-object-float" in done.stderr
    assert (tmp_path / "a/output.log").read_bytes() == done.stdout[:100_000]


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts a file system")
def test_a_file_system_that_is_full(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", small], check=False).returncode:
        pytest.skip("no right to mount here")
    try:
        code = f"import os\nfor i in range(0, 40000, 100): os.write(1, b''.join(b'%d\\n' % n for n in range(i, i + 100)))\nprint({TRACEBACK!r}); raise SystemExit(1)"
        done = run(small / "a", *script(code))
        assert len(done.stdout.splitlines()) == 40001
        assert b"cache-object-float" in done.stderr
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_folder_that_takes_nothing_does_not_keep_the_command_from_its_work(tmp_path: Path) -> None:
    (tmp_path / "troubleshoot-runs").write_text("a file in the place of the folder")
    done = subprocess.run(
        [*COMMAND, "--", "echo", "works"], cwd=tmp_path, env={**ENVIRONMENT, "TMPDIR": str(tmp_path)}, capture_output=True, check=False
    )
    assert done.stdout == b"works\n"
    assert b"the log goes to" in done.stderr
    (log,) = tmp_path.glob("troubleshoot-runs-*/*/output.log")
    assert log.read_bytes() == b"works\n"


def test_a_folder_that_was_asked_for_and_takes_nothing_is_told_before_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run(tmp_path / "file/a", "touch", str(tmp_path / "started"))
    assert done.returncode == 2
    assert b"name a folder that can be written" in done.stderr
    assert not (tmp_path / "started").exists()


def test_a_line_of_ten_megabytes(tmp_path: Path) -> None:
    done = run(tmp_path / "a", *script("print('x' * 10_000_000); print('end')"))
    assert done.stdout == b"x" * 10_000_000 + b"\nend\n"
    assert (tmp_path / "a/output.log").read_bytes() == done.stdout


def test_a_reader_that_goes_away_does_not_end_the_run(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--log", str(tmp_path / "a"), "--", *script("for i in range(50000): print(i)")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 0
    assert (tmp_path / "a/output.log").read_bytes().endswith(b"49999\n")


def test_memory_is_bounded_however_much_is_printed(tmp_path: Path) -> None:
    """200 MB in lines of 100 kB; the keeper and the supervisor stay below 400 MB together."""
    code = "import os\nline = b'x' * 99_999 + b'\\n'\nfor i in range(2000): os.write(1, line)\nprint(open('/proc/%d/status' % os.getppid()).read())"
    done = run(tmp_path / "a", *script(code), stdout=subprocess.PIPE)
    told = done.stdout[200_000_000:].decode()
    (peak,) = (int(line.split()[1]) for line in told.splitlines() if line.startswith("VmHWM"))
    assert peak < 100_000, "KiB of the keeper"


GATED = """
import os, signal, sys
def hung_up(*_):
    open("hung-up", "w").close()
    os._exit(0)
signal.signal(signal.SIGHUP, hung_up)
print("ready", flush=True)
open("gate").read()
try:
    while True: print("line", flush=True)
except BrokenPipeError:
    open("broken-pipe", "w").close()
    os._exit(0)
"""


def test_a_terminal_whose_keeper_is_killed_hangs_the_command_up(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(GATED.replace('"hung-up"', repr(str(tmp_path / "hung-up"))).replace('"gate"', repr(str(tmp_path / "gate"))))
    os.mkfifo(tmp_path / "gate")
    here = OnTerminal(tmp_path / "a", sys.executable, str(tmp_path / "s.py"))
    here.shows(b"ready")
    (keeper,) = children_of(here.pid)[:1]
    os.kill(keeper, signal.SIGKILL)
    here.end()
    wait_for((tmp_path / "hung-up").exists)


def test_where_both_are_killed_the_command_meets_a_broken_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    log = tmp_path / "a/output.log"
    process = subprocess.Popen(
        [*COMMAND, "--log", str(tmp_path / "a"), "--", *script(GATED)], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=ENVIRONMENT,
    )  # fmt: skip
    wait_for(lambda: log.exists() and log.read_bytes() == b"ready\n")
    (keeper,) = children_of(process.pid)[:1]
    for one in (process.pid, keeper):
        os.kill(one, signal.SIGSTOP)  # neither sees the other one end
    for one in (process.pid, keeper):
        os.kill(one, signal.SIGKILL)
    process.wait(60)
    (tmp_path / "gate").write_bytes(b"")
    wait_for((tmp_path / "broken-pipe").exists)


def test_a_reader_that_does_not_read_is_waited_for(tmp_path: Path) -> None:
    log, done = tmp_path / "a/output.log", tmp_path / "done"
    code = f"import os\nfor i in range(200): os.write(1, b'x' * 49_999 + b'\\n')\nopen({str(done)!r}, 'w').close()"
    process = subprocess.Popen(
        [*COMMAND, "--log", str(tmp_path / "a"), "--", *script(code)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    sizes = [0]

    def stands() -> bool:
        sizes.append(log.stat().st_size if log.exists() else 0)
        return sizes[-1] > 50_000 and len(sizes) > 20 and len(set(sizes[-20:])) == 1

    wait_for(stands)
    assert sizes[-1] < 1_000_000
    assert not done.exists()
    out, _ = process.communicate(timeout=60)
    assert len(out) == 10_000_000
    assert done.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts a file system")
def test_a_disk_that_has_room_again_gets_the_rest_of_the_log(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], check=False).returncode:
        pytest.skip("no right to mount here")
    (small / "others").write_bytes(b"x" * 900_000)
    os.mkfifo(tmp_path / "gate")
    log = small / "a/output.log"
    code = f"import os\nfor i in range(0, 40000, 100): os.write(1, b''.join(b'%d\\n' % n for n in range(i, i + 100)))\nprint('full')\nopen({str(tmp_path / 'gate')!r}).read()\nimport time\n"
    code += f"while not open({str(log)!r}, 'rb').read().endswith(b'room again\\n'):\n    print('room again')\n    time.sleep(0.1)"
    process = subprocess.Popen(
        [*COMMAND, "--log", str(small / "a"), "--", *script(code)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    try:
        assert process.stdout is not None
        lines = list(iter(process.stdout.readline, b"full\n"))
        assert len(lines) == 40000
        (small / "others").unlink()
        (tmp_path / "gate").write_bytes(b"")
        process.communicate(timeout=60)
        assert process.returncode == 0
        assert b"bytes of output are missing here: No space left on device]\nroom again\n" in log.read_bytes()
    finally:
        process.terminate()
        process.wait(60)
        subprocess.run(["umount", small], check=True)


TRAINING = """\
import hashlib, torch
torch.manual_seed(7)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Dropout(0.1), torch.nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(30):
    loss = (model(torch.randn(8, 16)) - 1).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    print({'loss': loss.item(), 'step': step})
print(hashlib.sha256(b''.join(p.detach().contiguous().view(torch.uint8).flatten().tolist().__repr__().encode() for p in model.parameters())).hexdigest())
"""


def test_results_are_the_same_to_the_bit(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    alone = subprocess.run(script(TRAINING), capture_output=True, check=True, env=ENVIRONMENT).stdout
    assert run(tmp_path / "a", *script(TRAINING)).stdout == alone
    here = OnTerminal(tmp_path / "b", *script(TRAINING))
    assert here.end() == 0
    assert here.shown.replace(b"\r\n", b"\n").endswith(alone)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("victim", ["supervisor", "keeper"])
def test_no_line_is_lost_where_one_of_us_is_killed(tmp_path: Path, terminal: bool, victim: str) -> None:
    log = killed_once(tmp_path / "a", terminal=terminal, moment=0.3, victim=victim)
    assert is_whole(log)
    if not (terminal and victim == "keeper"):  # the terminal goes with its keeper, and hangs the command up
        assert log.count(b"\n") == LINES


@pytest.mark.slow
def test_no_line_is_lost_at_fifty_random_moments(tmp_path: Path) -> None:
    chance = random.Random(50)
    for number in range(50):
        terminal, victim = chance.random() < 0.5, chance.choice(["supervisor", "keeper", "command"])
        log = killed_once(tmp_path / str(number), terminal=terminal, moment=chance.random(), victim=victim)
        assert is_whole(log), (number, terminal, victim)
        if victim != "command" and not (terminal and victim == "keeper"):
            assert log.count(b"\n") == LINES, (number, terminal, victim)
