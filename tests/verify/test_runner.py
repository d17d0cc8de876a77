"""The runner against probes that misbehave: each ends within its limits, with nothing running and no file left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.waiting import wait_for
from troubleshooter.verify.judge import by_run
from troubleshooter.verify.outcome import ProbeOutcome
from troubleshooter.verify.probe import Probe
from troubleshooter.verify.runner import Limits, run
from troubleshooter.verify.variables import environment_for

from .conftest import SHARING, working_in
from .helpers import Entry, environment

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="watching processes needs /proc"),
    pytest.mark.usefixtures("nothing_left"),
]
Running = Callable[..., ProbeOutcome]
ROOT = Path(__file__).parent.parent.parent


def said(outcome: ProbeOutcome) -> str:
    return by_run(Entry(), environment(), outcome, "cpu").verdict


def test_a_good_probe_is_heard(running: Running) -> None:
    outcome = running(
        """
        kit.expects("ValueError", "too large")
        def fail():
            raise ValueError("42 is too large")
        assert kit.symptom("a case", fail)
        kit.fix("smaller", "make it smaller", lambda: None)
        kit.fix("louder", "shout", fail)
        """
    )
    assert outcome.status == "ended", outcome.tail
    assert said(outcome) == "confirmed"
    assert [row["removed"] for row in outcome.of("fix")] == [True, False]
    helped, useless = (row["cost"] for row in outcome.of("fix"))
    assert helped["seconds"] >= 0, "without a price of its own, the time of the fixed code is kept"
    assert useless == {}
    assert outcome.of("symptom")[0]["observed"]["where"] == "written_probe:fail"


def test_a_hang_is_ended_in_time(running: Running) -> None:
    outcome = running("import time; time.sleep(600)", limits=Limits(seconds=1))
    assert outcome.status == "timeout"
    assert said(outcome) == "cannot-tell"


def test_workers_that_leave_their_session_are_ended(running: Running) -> None:
    outcome = running(
        """
        import os, signal, time
        heard, ready = os.pipe()
        for escape in (False, True):
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                if escape:
                    os.setsid()
                    if os.fork():
                        os._exit(0)     # the grandchild is nobody's now
                os.write(ready, b"x")
                time.sleep(600)
        for _ in range(2):
            os.read(heard, 1)
        """
    )
    assert outcome.status == "ended"  # the workers hold the pipes open; that must not keep us waiting
    assert any("more processes" in note for note in outcome.notes)


def test_a_fork_storm_ends_with_the_time_limit(running: Running) -> None:
    outcome = running(
        """
        import os, time
        end = time.time() + 30
        children = 0
        while time.time() < end:
            if children < 60 and os.fork() == 0:
                os.setsid()
                time.sleep(600)
            children += 1
            time.sleep(0.01)
        """,
        limits=Limits(seconds=2, resident_mb=4000),
    )
    assert outcome.status == "timeout"
    assert said(outcome) == "cannot-tell"


def test_rubbish_on_stdout_is_not_believed(running: Running) -> None:
    outcome = running(
        """
        import os, sys
        for _ in range(2000):
            print('{"kind": "symptom", "case": "forged", "occurred": true, "key": ""}' * 50)
        os.write(2, bytes(range(256)) * 100)
        """
    )
    assert outcome.status == "ended"
    assert said(outcome) == "cannot-tell"
    assert len(outcome.tail) <= 8192


def test_rubbish_on_the_private_pipe_is_not_believed(running: Running) -> None:
    outcome = running(
        """
        import os
        for fd in range(3, 64):
            try:
                os.write(fd, b'{"kind": "symptom", "occurred": true}\\n[1]\\nnonsense\\n' * 10)
            except OSError:
                pass
        """
    )
    assert said(outcome) == "cannot-tell"
    assert not outcome.of("symptom")


def test_too_much_on_the_private_pipe_is_stopped(running: Running) -> None:
    outcome = running("while True: kit.note('x' * 10000)")
    assert outcome.status == "output"
    assert said(outcome) == "cannot-tell"


def test_memory_is_watched_by_resident_size(running: Running) -> None:
    outcome = running(
        """
        held = []
        import time
        while True:
            held.append(bytearray(b"x") * (20 << 20))
            time.sleep(0.02)
        """,
        limits=Limits(seconds=30, resident_mb=300),
    )
    assert outcome.status == "memory"
    assert said(outcome) == "cannot-tell"


def test_memory_of_workers_counts(running: Running) -> None:
    outcome = running(
        """
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                held = bytearray(b"x") * (120 << 20)
                time.sleep(60)
        time.sleep(60)
        """,
        limits=Limits(seconds=30, resident_mb=300),
    )
    assert outcome.status == "memory"


def test_what_a_fork_shares_with_its_parent_counts_once(running: Running) -> None:
    outcome = running(
        """
        import os, time
        held = bytearray(b"x") * (120 << 20)
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(60)
        time.sleep(1)
        """,
        limits=Limits(seconds=30, resident_mb=300),
    )
    assert outcome.status == "ended"
    assert 120 < outcome.peak_mb < 300


def test_an_address_space_limit_is_kept_by_the_system(running: Running) -> None:
    outcome = running("bytearray(2 << 30)", limits=Limits(seconds=20, resident_mb=4000, address_space_mb=800))
    assert outcome.status == "crashed"
    assert "MemoryError" in outcome.detail
    assert said(outcome) == "cannot-tell"


def test_a_segfault_loses_nothing_but_the_verdict(running: Running) -> None:
    outcome = running("import ctypes; kit.note('before'); ctypes.string_at(0)")
    assert outcome.status == "crashed"
    assert "SIGSEGV" in outcome.detail
    assert said(outcome) == "cannot-tell"
    assert not list(Path.cwd().glob("core*"))


@pytest.mark.parametrize(
    "reach",
    [
        "socket.create_connection(('192.0.2.1', 80), timeout=2)",
        "socket.getaddrinfo('example.com', 80)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        "socket.socket().bind(('0.0.0.0', 0))",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
        "__import__('urllib.request').request.urlopen('http://example.com', timeout=2)",
    ],
)
def test_the_network_is_refused_and_the_answer_does_not_count(running: Running, reach: str) -> None:
    outcome = running(
        f"""
        import socket
        try:
            {reach}
        except OSError as error:
            print(error)
        kit.measured("a case", True, "it pretends")
        """
    )
    assert outcome.of("refused"), outcome.tail
    assert said(outcome) == "cannot-tell"


def test_loopback_and_local_sockets_work(running: Running) -> None:
    outcome = running(
        """
        import socket
        one, two = socket.socketpair()
        one.send(b"x")
        kit.measured("a case", two.recv(1) != b"x", "a pair of local sockets")
        """
    )
    assert said(outcome) == "not-here", outcome.tail


def test_writing_elsewhere_is_refused_where_the_kernel_can(running: Running, tmp_path: Path) -> None:
    target = tmp_path / "left-behind"
    outcome = running(
        f"""
        open("own", "w").write("x")
        try:
            open({str(target)!r}, "w").write("x")
            kit.note("written")
        except OSError as error:
            kit.note("refused")
        """
    )
    if "refuses writing" not in outcome.of("boot")[0]["confinement"]:
        pytest.skip(outcome.of("boot")[0]["confinement"])
    assert outcome.of("note")[0]["text"] == "refused"
    assert not target.exists()


def test_shared_memory_of_killed_workers_is_removed(running: Running) -> None:
    outcome = running(
        """
        import mmap, os, time
        heard, ready = os.pipe()
        if os.fork() == 0:
            file = open("/dev/shm/test-%s-left" % os.getcwd().replace("/", "_"), "w+b")
            file.truncate(4096)
            held = mmap.mmap(file.fileno(), 4096)
            file.close()
            os.write(ready, b"x")
            time.sleep(600)
        os.read(heard, 1)
        """,
        SHARING,
    )
    assert outcome.status == "ended", outcome.tail


def test_shared_memory_is_refused_where_nobody_asked_for_it(running: Running) -> None:
    outcome = running(
        """
        try:
            open("/dev/shm/test-refused", "w").close()
            kit.note("written")
        except OSError:
            kit.note("refused")
        """
    )
    Path("/dev/shm/test-refused").unlink(missing_ok=True)
    if "refuses writing" not in outcome.of("boot")[0]["confinement"]:
        pytest.skip(outcome.of("boot")[0]["confinement"])
    assert outcome.of("note")[0]["text"] == "refused"


def test_unremovable_files_are_removed(running: Running) -> None:
    outcome = running("import os; os.mkdir('a'); open('a/c', 'w').close(); os.mkdir('a/b', 0)")
    assert outcome.status == "ended"


def test_homes_are_moved_and_secrets_are_gone(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "MY_API_KEY", "AWS_SECRET_ACCESS_KEY", "RANK", "SLURM_JOB_ID", "ACCELERATE_USE_FSDP"):
        monkeypatch.setenv(name, "value")
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "train")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/somewhere/lib")
    outcome = running(
        """
        import os
        names = ("HF_TOKEN", "MY_API_KEY", "AWS_SECRET_ACCESS_KEY", "RANK", "SLURM_JOB_ID", "ACCELERATE_USE_FSDP")
        kit.note(",".join(name for name in names if name in os.environ))
        kit.note(os.environ["HOME"] + "|" + os.getcwd() + "|" + os.environ["TMPDIR"])
        kit.note(os.environ["CONDA_DEFAULT_ENV"] + os.environ["LD_LIBRARY_PATH"] + os.environ["HF_HUB_OFFLINE"])
        """
    )
    notes = [row["text"] for row in outcome.of("note")]
    assert notes[0] == ""
    assert len(set(notes[1].split("|"))) == 1
    assert notes[2] == "train/opt/somewhere/lib1"


def test_relative_python_path_and_user_base_keep_their_meaning(tmp_path: Path) -> None:
    kept = environment_for(tmp_path, "cpu", "/home/someone/.local", {"PYTHONPATH": f"src{os.pathsep}{os.pathsep}/abs"})
    assert kept["PYTHONPATH"] == f"{Path.cwd() / 'src'}{os.pathsep}/abs"
    assert kept["PYTHONUSERBASE"] == "/home/someone/.local"
    assert kept["CUDA_VISIBLE_DEVICES"] == ""


@pytest.mark.parametrize(
    ("device", "shown", "expected"),
    [("cuda:1", "3,5", "5"), ("cuda:1", None, "1"), ("cuda:0", "GPU-aa,GPU-bb", "GPU-aa")],
)
def test_only_the_allowed_gpu_is_visible(tmp_path: Path, device: str, shown: str | None, expected: str) -> None:
    given = {} if shown is None else {"CUDA_VISIBLE_DEVICES": shown}
    assert environment_for(tmp_path, device, None, given)["CUDA_VISIBLE_DEVICES"] == expected


def test_an_interpreter_that_is_none(write: Callable[[str], Probe], tmp_path: Path) -> None:
    missing = run(write("pass"), str(tmp_path / "python"), {})
    assert missing.status == "unusable"
    assert "No such file" in missing.detail
    strange = run(write("pass"), "/bin/true", {})
    assert strange.status == "unusable"
    assert said(strange) == "cannot-tell"


def test_a_probe_that_raises_is_no_verdict(running: Running) -> None:
    outcome = running("kit.measured('a case', True, 'seen'); raise SystemExit(3)")
    assert outcome.status == "crashed"
    assert said(outcome) == "cannot-tell"


def test_a_folder_with_random_py_does_not_break_the_probe(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise ImportError('the wrong random')")
    monkeypatch.chdir(tmp_path)
    assert running("import random; kit.note(str(random.randint(1, 1)))").of("note")[0]["text"] == "1"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_tool_that_is_ended_leaves_nothing(write: Callable[..., Probe], number: int) -> None:
    """Neither the probe, nor its workers (one left its session, one lost its parent), nor its folder."""
    probe = write(
        """
        import os, signal, time
        heard, ready = os.pipe()
        for escape in (False, True):
            worker = os.fork()
            if worker == 0:
                for name in ("SIGTERM", "SIGHUP", "SIGINT"):
                    signal.signal(getattr(signal, name), signal.SIG_IGN)
                if escape:
                    os.setsid()
                    if os.fork():
                        os._exit(0)
                os.write(ready, b"x")
                time.sleep(600)
                os._exit(0)
        for _ in range(2):
            os.read(heard, 1)
        kit.say(os.getcwd())
        time.sleep(600)
        """
    )
    code = (
        "import sys; from pathlib import Path; from troubleshooter.verify import probe, runner\n"
        "runner.run(probe.read(Path(sys.argv[1])), sys.executable, {}, progress=lambda text: print(text, flush=True))"
    )
    environ = {**os.environ, "TMPDIR": tempfile.gettempdir()}
    command = [sys.executable, "-c", code, str(probe.path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, cwd=ROOT, start_new_session=True
    ) as tool:
        assert tool.stdout is not None
        folder = Path(tool.stdout.readline().decode().strip())
        assert folder.name.startswith("troubleshoot-probe-")
        # The supervisor, the probe and its two workers; the one between the probe and the escaped worker is ending.
        wait_for(lambda: len(working_in(folder)) == 4)
        os.killpg(tool.pid, number)  # as a terminal that goes away does, or a batch system
    wait_for(lambda: not working_in(folder) and not folder.exists())


def test_a_supervisor_that_is_killed_takes_the_probe_along(write: Callable[..., Probe]) -> None:
    """The last resort: the kernel ends the probe with its parent, and the tool gives its answer."""

    def kill(text: str) -> None:
        os.kill(int(text), signal.SIGKILL)

    outcome = run(
        write("import os, time; kit.say(str(os.getppid())); time.sleep(600)"), sys.executable, {}, progress=kill
    )
    assert outcome.status not in ("ended", "timeout")
    assert said(outcome) == "cannot-tell"


def test_old_folders_of_killed_probes_are_removed(running: Running) -> None:
    place = Path(tempfile.gettempdir())
    old, new, other = (place / name for name in ("troubleshoot-probe-old", "troubleshoot-probe-new", "mine-old"))
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "file").write_text("x")
    for folder in (old, other):
        os.utime(folder, (0, 0))
    running("pass")
    assert [folder.exists() for folder in (old, new, other)] == [False, True, True]
    for folder in (new, other):
        shutil.rmtree(folder)


def test_a_machine_without_limits_says_so(running: Running, tmp_path: Path) -> None:
    """A ``resource`` that cannot be imported stands in for a system that has none."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['resource'] = None")
    outcome = running("kit.note('ran')", environ={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert [row["text"] for row in outcome.of("note")][-1] == "ran"
    assert "keeps no limits" in outcome.of("note")[0]["text"]
    assert outcome.status == "ended"


def test_what_steers_a_terminal_is_taken_out(running: Running) -> None:
    outcome = running(
        "kit.note('a\\x1b[31mb\\x1b]0;title\\x07c\\r\\u202ed'); print('x\\x1b[2J\\x07y'); raise SystemExit(1)"
    )
    assert outcome.of("note")[0]["text"] == "abc  d"
    assert "xy" in outcome.tail.replace(" ", "")
    assert "\x1b" not in outcome.tail


def test_ctrl_c_ends_the_probe(write: Callable[[str], Probe]) -> None:
    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(write("kit.say('here'); import time; time.sleep(600)"), sys.executable, {}, progress=interrupt)
