"""`troubleshoot run`: output, exit status, signals, the terminal and the diagnosis, as the user meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervise.running import COMMAND, ENVIRONMENT, OnTerminal, children_of, noted, run, script
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a keeper needs /proc and fork")
FAILURE = "print(\"AttributeError: 'HybridCache' object has no attribute 'float'\"); raise SystemExit(1)"


def test_output_passes_through_byte_for_byte(tmp_path: Path) -> None:
    said = bytes(range(256)) * 40 + b"\r 5%|\x1b[31m no line end"
    code = f"import os,sys; sys.stdout.buffer.write({said!r}); sys.stdout.flush(); os.write(2, b'\\xff other')"
    done = run(tmp_path / "a", *script(code))
    assert done.returncode == 0
    assert done.stdout == said
    assert done.stderr == b"\xff other"
    assert sorted((tmp_path / "a/output.log").read_bytes()) == sorted(said + b"\xff other")


def test_the_order_of_both_streams_is_kept_where_they_lead_to_one_place(tmp_path: Path) -> None:
    code = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)"
    done = run(tmp_path / "a", *script(code), stderr=subprocess.STDOUT)
    assert done.stdout.split() == [b"%d" % i for i in range(2000)]
    assert (tmp_path / "a/output.log").read_bytes() == done.stdout


def test_standard_input_is_the_commands(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_bytes(b"one\ntwo\n")
    with given.open("rb") as stdin:
        assert run(tmp_path / "a", "cat", stdin=stdin).stdout == b"one\ntwo\n"


def test_the_log_is_there_before_the_command(tmp_path: Path) -> None:
    code = f"import os; print(os.path.exists({str(tmp_path / 'a/output.log')!r}))"
    assert run(tmp_path / "a", *script(code)).stdout == b"True\n"


@pytest.mark.parametrize("status", [0, 1, 3, 42, 255])
def test_the_exit_status_is_the_commands(tmp_path: Path, status: int) -> None:
    assert run(tmp_path / "a", *script(f"raise SystemExit({status})")).returncode == status
    assert noted(tmp_path / "a")["status"] == status


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGABRT"])
def test_a_command_that_dies_of_a_signal_is_seen_to(tmp_path: Path, name: str) -> None:
    number = getattr(signal, name)
    done = run(tmp_path / "a", *script(f"import os; os.kill(os.getpid(), {int(number)})"))
    assert done.returncode == -number
    assert name.encode() in done.stderr


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    done = run(tmp_path / "a", "no-such-command-here")
    assert done.returncode == 127
    assert done.stderr == b"troubleshoot: run: no-such-command-here: No such file or directory\n"
    assert run(tmp_path / "b", str(tmp_path)).returncode == 126


def test_a_failure_is_diagnosed_last_and_kept(tmp_path: Path) -> None:
    done = run(tmp_path / "a", *script(FAILURE))
    assert done.returncode == 1
    assert done.stdout == b"AttributeError: 'HybridCache' object has no attribute 'float'\n"
    assert b"cache-object-float" in done.stderr
    report = json.loads((tmp_path / "a/report.json").read_text())
    assert report["diagnoses"][0]["id"] == "cache-object-float"
    assert "HybridCache" in (tmp_path / "a/report.html").read_text()


def test_a_run_that_ends_well_says_nothing(tmp_path: Path) -> None:
    done = run(tmp_path / "a", "true")
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_failure_without_a_reason_is_not_called_no_failure(tmp_path: Path, lines: int) -> None:
    done = run(tmp_path / "a", *script(f"print('step\\n' * {lines}, end=''); raise SystemExit(3)"))
    assert b"ended with exit status 3" in done.stderr
    assert f"Its output ({lines} line{'s' * (lines != 1)}) does not show why.".encode() in done.stderr
    assert b"No failure" not in done.stderr
    assert b"does not show how the run ended" not in done.stderr


def test_a_signal_from_elsewhere_says_nothing_about_silence(tmp_path: Path) -> None:
    done = run(tmp_path / "a", *script(f"import os; print('step'); os.kill(os.getpid(), {int(signal.SIGINT)})"))
    assert b"stopped by Ctrl-C" in done.stderr
    assert b"Its last output" not in done.stderr
    assert b"py-spy" not in done.stderr
    assert json.loads((tmp_path / "a/report.json").read_text())["stopped"]["silent_s"] is None


def test_a_run_that_is_silently_wrong_is_told(tmp_path: Path) -> None:
    code = "for i in range(40): print({'loss': 2.0 - i / 99, 'grad_norm': 1.0, 'learning_rate': 1e-4, 'epoch': i / 100} if i < 9 else {'loss': 0.0, 'grad_norm': float('nan'), 'learning_rate': 1e-4, 'epoch': i / 100})"
    done = run(tmp_path / "a", *script(code))
    assert done.returncode == 0
    assert b"but its log shows a failure" in done.stderr


def test_the_rank_where_it_began_comes_first(tmp_path: Path) -> None:
    said = (
        "[rank0]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.\n"
        '[rank1]: Traceback (most recent call last):\n[rank1]:   File "/app/train.py", line 8, in <module>\n'
        "[rank1]: ValueError: a row of rank 1 is empty\n"
    )
    done = run(tmp_path / "a", *script(f"print({said!r}, end=''); raise SystemExit(1)"))
    told = done.stderr.decode()
    assert "rank 1, where it began: ValueError: a row of rank 1 is empty" in told
    assert told.index("rank 1, ") < told.index("rank 0, after that: ")


def test_secrets_of_the_command_are_not_kept(tmp_path: Path) -> None:
    run(tmp_path / "a", "true", "--token", "hf_abcdefghijklmnopqrstuvwxyz0123456789", "--api-key=plain-words", "--steps", "3")
    text = (tmp_path / "a/run.json").read_text()
    assert "hf_abc" not in text
    assert "plain-words" not in text
    assert noted(tmp_path / "a")["command"][-2:] == ["--steps", "3"]


def test_the_versions_are_those_of_the_commands_python(tmp_path: Path) -> None:
    run(tmp_path / "a", *script("pass"))
    assert noted(tmp_path / "a")["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert json.loads((tmp_path / "a/state.jsonl").read_text().splitlines()[0])["processes"] is not None


def test_a_folder_that_holds_a_run_is_not_written_over(tmp_path: Path) -> None:
    run(tmp_path / "a", "echo", "one")
    done = run(tmp_path / "a", "echo", "two")
    assert done.returncode == 2
    assert b"holds the log of a run already" in done.stderr
    assert (tmp_path / "a/output.log").read_bytes() == b"one\n"


def test_the_usual_folder_is_named_after_the_script(tmp_path: Path) -> None:
    (tmp_path / "fit.py").write_text("print(1)")
    subprocess.run([*COMMAND, sys.executable, "fit.py", "--lr", "3"], cwd=tmp_path, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    (made,) = (tmp_path / "troubleshoot-runs").iterdir()
    assert made.name.endswith("-fit")


def test_a_command_for_failures_gets_the_report(tmp_path: Path) -> None:
    options = ("--on-failure", f"cp -t {tmp_path}")
    assert run(tmp_path / "a", *script(FAILURE), options=options).returncode == 1
    assert (tmp_path / "report.json").read_bytes() == (tmp_path / "a/report.json").read_bytes()
    done = run(tmp_path / "b", *script(FAILURE), options=("--on-failure", "exit 7;"))
    assert (done.returncode, b"exit status 7" in done.stderr) == (1, True)
    assert run(tmp_path / "c", "true", options=("--on-failure", f"touch {tmp_path}/called")).returncode == 0
    assert not (tmp_path / "called").exists()


def test_only_what_may_pass_is_tried_again(tmp_path: Path) -> None:
    passing = "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR"
    code = f"open({str(tmp_path / 'starts')!r}, 'a').write('.'); print({passing!r}); raise SystemExit(1)"
    run(tmp_path / "a", *script(FAILURE), options=("--retry", "2"))
    assert not (tmp_path / "a/attempt-2").exists()
    done = run(tmp_path / "b", *script(code), options=("--retry", "2"))
    report = json.loads((tmp_path / "b/report.json").read_text())
    assert report["diagnoses"][0]["retry"] == "may-help"
    assert (tmp_path / "starts").read_text() == "..."
    assert done.returncode == 1


def not_ignored() -> None:
    """A suite that a shell started in the background ignores these, and the tool keeps ignored signals ignored, as nohup wants."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(folder: Path, *words: str, **given: object) -> subprocess.Popen[bytes]:
    """The tool, with a command that has printed "ready"."""
    process = subprocess.Popen(
        [*COMMAND, "--log", str(folder), "--", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=ENVIRONMENT, **{"preexec_fn": not_ignored, **given},  # type: ignore[call-overload]
    )  # fmt: skip
    wait_for(lambda: (folder / "output.log").exists() and b"ready" in (folder / "output.log").read_bytes())
    return process


WAITING = "import signal, time\ncount = []\nsignal.signal(signal.{name}, lambda *a: count.append(1))\nprint('ready')\nwhile not count: time.sleep(0.01)\ntime.sleep(0.3)\nprint('signals', len(count)); raise SystemExit(5)"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT"])
def test_a_signal_reaches_the_command_once(tmp_path: Path, name: str) -> None:
    process = started(tmp_path / "a", *script(WAITING.format(name=name)))
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)
    assert out == b"ready\nsignals 1\n"
    assert process.returncode == 5
    assert b"exit status 5" in err


def test_a_scheduler_that_ends_the_run_still_gets_a_report(tmp_path: Path) -> None:
    process = started(tmp_path / "a", *script("import time; print('ready'); time.sleep(600)"))
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert b"stopped by SIGTERM" in err
    assert json.loads((tmp_path / "a/report.json").read_text())["stopped"]["by"] == "SIGTERM"


def test_a_hangup_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    code = "import signal; print('ready', signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    process = started(tmp_path / "a", *script(code), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert process.communicate(timeout=60)[0] == b"ready True\n"


def test_metrics_that_fail_are_told_while_the_run_goes_on(tmp_path: Path) -> None:
    code = (
        "import time\nfor i in range(12): print({'loss': 2.0, 'grad_norm': 1.0, 'step': i})\n"
        "for i in range(12, 41): print({'loss': 0.0, 'grad_norm': float('nan'), 'step': i})\nprint('ready')\ntime.sleep(600)"
    )
    process = started(tmp_path / "a", *script(code))
    assert process.stderr is not None
    assert process.stderr.readline() == b"troubleshoot: step 40: the loss is 0 and grad_norm NaN since step 12\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def test_a_run_that_is_lost_is_stopped_where_that_is_wanted(tmp_path: Path) -> None:
    code = "import time\nfor i in range(40): print({'loss': float('nan'), 'step': i})\ntime.sleep(600)"
    done = run(tmp_path / "a", *script(code), options=("--stop-early",))
    assert done.returncode == -signal.SIGTERM
    assert b"stopping the run" in done.stderr


def test_a_child_that_outlives_the_command_goes_on_writing(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    process = started(tmp_path / "a", "sh", "-c", f"(cat {gate}; echo late) & echo ready")
    assert process.wait(60) == 0
    gate.write_bytes(b"")
    wait_for(lambda: b"late" in (tmp_path / "a/output.log").read_bytes())
    assert process.communicate(timeout=60)[0] == b"ready\nlate\n"


def test_a_terminal_stays_a_terminal(tmp_path: Path) -> None:
    code = (
        "import os, sys\nprint(*(os.isatty(i) for i in range(3)), os.get_terminal_size().columns)\n"
        "print(os.tcgetpgrp(0) == os.getpgrp())\nprint('got', input('name? '))"
    )
    here = OnTerminal(tmp_path / "a", *script(code))
    here.shows(b"name? ")
    here.press(b"axolotl\r")
    assert here.end() == 0
    assert b"True True True" in here.shown
    assert b"\r\nTrue\r\n" in here.shown
    assert b"got axolotl\r\n" in here.shown
    assert b"got axolotl" in (tmp_path / "a/output.log").read_bytes()


def test_a_window_that_changes_its_size_is_told(tmp_path: Path) -> None:
    import fcntl
    import struct
    import termios

    code = "import os, signal, time\ngot = []\nsignal.signal(signal.SIGWINCH, lambda *a: got.append(1))\nprint('ready')\nwhile not got: time.sleep(0.01)\nprint(tuple(os.get_terminal_size()))"
    here = OnTerminal(tmp_path / "a", *script(code))
    here.shows(b"ready")
    fcntl.ioctl(here.master, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    assert here.end() == 0
    assert b"(77, 33)" in here.shown


def test_ctrl_c_on_a_terminal_reaches_the_command_once(tmp_path: Path) -> None:
    here = OnTerminal(tmp_path / "a", *script(WAITING.format(name="SIGINT")))
    here.shows(b"ready")
    here.press(b"\x03")
    assert here.end() == 5
    assert b"signals 1" in here.shown


def test_ctrl_c_that_ends_the_command_ends_us_the_same_way(tmp_path: Path) -> None:
    here = OnTerminal(tmp_path / "a", *script("import time; print('ready'); time.sleep(600)"))
    here.shows(b"ready")
    here.press(b"\x03")
    assert here.end() == -signal.SIGINT
    assert b"KeyboardInterrupt" in here.shown


def test_a_question_before_a_run_is_stopped(tmp_path: Path) -> None:
    code = "import time\nfor i in range(40): print({'loss': float('nan'), 'step': i})\ntime.sleep(600)"
    here = OnTerminal(tmp_path / "a", *script(code), options=("--stop-early",))
    here.shows(b"stop it now? [y/N]")
    here.press(b"y")
    assert here.end() == -signal.SIGTERM


def test_a_terminal_that_closes_hangs_the_command_up_and_keeps_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "a/output.log"
    here = OnTerminal(tmp_path / "a", *script(WAITING.format(name="SIGHUP")))
    here.shows(b"ready")
    os.close(here.master)
    os.waitpid(here.pid, 0)
    assert b"signals 1" in log.read_bytes()
    assert (tmp_path / "a/report.json").exists()


def test_job_control(tmp_path: Path) -> None:
    """A shell stops the run by Ctrl-Z, and `fg` lets it go on."""
    code = "import signal\nprint('ready')\nsignal.signal(signal.SIGCONT, lambda *a: print('again'))\nsignal.pause()\nprint('done', input())"
    quoted = " ".join(f"'{word}'" for word in [*COMMAND, "--log", str(tmp_path / "a"), "--", sys.executable, "-u", str(tmp_path / "s.py")])
    (tmp_path / "s.py").write_text(code)
    import pty

    pid, master = pty.fork()
    if pid == 0:
        os.execve("/bin/bash", ["bash", "--norc", "-i"], {**ENVIRONMENT, "PS1": "$ ", "TERM": "dumb", "PROMPT_COMMAND": "echo status=$?"})
    here = OnTerminal.__new__(OnTerminal)
    here.pid, here.master, here.shown = pid, master, b""
    here.press(quoted.encode() + b"\n")
    here.shows(b"ready\r\n")
    here.press(b"\x1a")
    here.shows(b"Stopped")
    here.press(b"echo a'live'; fg\n")
    here.shows(b"alive")
    here.shows(b"again")
    here.press(b"words\r")
    here.shows(b"done words")
    wait_for(lambda: here.read() and b"status=0" in here.shown.partition(b"done words")[2])
    here.press(b"exit 9\n")
    assert here.end() == 9


def test_the_run_goes_on_where_the_supervisor_is_killed(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    process = started(tmp_path / "a", "sh", "-c", f"echo ready; cat {gate}; echo after; exit 4")
    process.kill()
    process.wait()
    gate.write_bytes(b"through the gate\n")
    wait_for(lambda: (tmp_path / "a/ended.json").exists())
    assert (tmp_path / "a/output.log").read_bytes() == b"ready\nthrough the gate\nafter\n"
    assert json.loads((tmp_path / "a/ended.json").read_text()) == {"status": 4}
    assert process.stdout is not None
    assert process.stdout.read() == b"ready\nthrough the gate\nafter\n"


def test_the_run_goes_on_where_the_keeper_is_killed(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    process = started(tmp_path / "a", "sh", "-c", f"echo ready; cat {gate}; echo after")
    (keeper,) = children_of(process.pid)[:1]
    os.kill(keeper, signal.SIGKILL)
    gate.write_bytes(b"through the gate\n")
    out, err = process.communicate(timeout=60)
    assert out == b"ready\nthrough the gate\nafter\n"
    assert (tmp_path / "a/output.log").read_bytes() == out
    assert process.returncode == 125
    assert b"was not seen" in err
