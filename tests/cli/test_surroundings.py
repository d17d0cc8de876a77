"""Streams, homes, names and terminals as they are found: no Python traceback, and exit 1 only for a diagnosis."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from troubleshooter.report.render import FORMATS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="streams, users and terminals of POSIX")

LOG = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 12, in main
    trainer.train()
AttributeError: 'HybridCache' object has no attribute 'float'
"""
COMMAND = [sys.executable, "-m", "troubleshooter"]


def run(*arguments: str | bytes, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "LC_ALL": "C.UTF-8", **environ}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, stdin=subprocess.DEVNULL, cwd=cwd, env=env, check=False)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return path


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_encoding_that_lacks_characters_ends_nothing(log: Path, format: str, encoding: str) -> None:
    done = run("--lang", "zh", "--format", format, str(log), PYTHONIOENCODING=encoding)
    assert done.returncode == 1
    assert done.stderr == b""
    if format == "json":
        assert json.loads(done.stdout.decode("ascii"))["diagnoses"][0]["id"] == "cache-object-float"


def test_names_and_text_of_a_log_cannot_steer_the_terminal(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/a\x1b[31m\xff.log"
    with open(name, "wb") as file:
        file.write(b"ValueError: \xc2\x9b31m\n")
    for arguments in ([name, name], ["--brief", name, name], [name + b"x"], *(["--format", format, name] for format in FORMATS)):
        done = run(*arguments)
        assert b"Traceback" not in done.stderr
        for shown in (done.stdout, done.stderr):
            assert b"\x1b" not in shown
            assert b"\xc2\x9b" not in shown


@pytest.mark.parametrize("closed", ["stdout", "stdin", "stderr"])
def test_a_closed_stream(log: Path, closed: str) -> None:
    number = {"stdin": 0, "stdout": 1, "stderr": 2}[closed]
    done = subprocess.run(
        [*COMMAND, *([] if closed == "stdin" else [str(log)])], capture_output=True, check=False, preexec_fn=lambda: os.close(number)
    )
    assert done.returncode == (1 if closed == "stderr" else 2)
    assert b"Traceback" not in done.stderr
    assert b"Traceback" not in done.stdout.replace(LOG.encode(), b"")


@pytest.mark.parametrize("columns", ["abc", "0", "-5", "999999999999", ""])
def test_odd_widths(log: Path, columns: str) -> None:
    done = run(str(log), str(log), COLUMNS=columns)
    assert done.returncode == 1
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["list"], ["show", "cache-object-float"], ["search", "cache"], ["--help"], ["--version"]])
def test_a_full_disk_ends_every_command_with_a_sentence(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == "troubleshoot: the report cannot be written: No space left on device\n"


def test_settings_that_may_not_be_read_are_no_end(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from troubleshooter.cli.settings import ignored

    settings = tmp_path / "config" / "llm-troubleshooter" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[ignore]\nx = "y"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert ignored([], []) == {}
    assert "Permission denied" in capsys.readouterr().err


def test_without_a_home_nothing_is_written_into_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kb.cache import cache_folder
    from troubleshooter.cli.settings import ignored

    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TROUBLESHOOT_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # what it does without a HOME and a password entry
    assert "~" not in str(cache_folder())
    assert cache_folder().is_absolute()
    assert ignored([], []) == {}
    assert list(tmp_path.iterdir()) == []


def test_unknown_names_are_said_with_the_nearest(log: Path) -> None:
    for arguments, said in (
        (["lst"], b"lst: no such file or command; did you mean list?"),
        (["--top", "2", "explain", "x"], b"explain: no such file; if the command is meant, write it first: troubleshoot explain\n"),
        (["list", "--area", "trianing"], b"did you mean training?"),
        (["list", "--kind", "harmles"], b"harmless"),
        (["show", "cache-object-flaot"], b"did you mean cache-object-float?"),
        (["--ignore", "cache-object-flaot", str(log)], b"--ignore cache-object-flaot: no such entry; did you mean cache-object-float?"),
        (["--brief", "--format", "json", str(log)], b"--brief is a format of its own"),
    ):
        done = run(*arguments)
        assert done.returncode == 2, arguments
        assert said in done.stderr
        assert done.stdout == b""


def test_unknown_settings_are_warned_of(log: Path) -> None:
    (log.parent / ".troubleshoot.toml").write_text('[ignroe]\na = "b"\n[ignore]\ncache-object-flaot = "later"\n')
    done = run(log.name, cwd=log.parent)
    assert done.returncode == 1
    assert b"[ignroe] is no known setting; did you mean ignore?" in done.stderr
    assert b"cache-object-flaot: no such entry; did you mean cache-object-float?" in done.stderr


def test_the_version_tells_the_knowledge() -> None:
    from kb.known import known_ids

    said = run("--version").stdout.decode()
    assert said == run("-V").stdout.decode()
    assert f"knowledge: {len(known_ids())} entries" in said
    assert "条目" in run("-V", TROUBLESHOOT_LANG="zh").stdout.decode()


def test_help_shows_options_examples_and_exit_statuses_on_the_first_screen() -> None:
    from rich.cells import cell_len

    from troubleshooter.cli.options import DIAGNOSE

    for lang in ("en", "zh"):
        lines = run("--help", TROUBLESHOOT_LANG=lang).stdout.decode().splitlines()
        first = "\n".join(lines[:24])
        assert all(flag in first for option in DIAGNOSE for flag in option.flags)
        assert "|".join(FORMATS) in first
        assert "2>&1 | troubleshoot" in first
        assert ("Exit status" in first) or ("退出状态" in first)
        assert max(map(cell_len, lines)) <= 80


def test_no_page_of_the_help_shows_types_of_python() -> None:
    from troubleshooter.cli.commands import COMMANDS
    from troubleshooter.cli.help import command_page

    for command in COMMANDS:
        for lang in ("en", "zh"):
            assert "<" not in command_page(command, lang)
    assert "1 confirmed" in run("verify", "--help").stdout.decode()


def test_show_prints_messages_as_they_are_printed() -> None:
    shown = run("show", "cache-object-float").stdout.decode()
    assert "'HybridCache' object has no attribute 'float'" in shown
    assert "(?P<" not in shown


def on_a_terminal(arguments: list[str], stdin: bytes | None, **environ: str) -> str:
    """What the command shows on a terminal of 80 columns and 24 lines, its input a pipe or the terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(LC_ALL="C.UTF-8", TERM="xterm", COLUMNS="80", LINES="24", **environ)
        if stdin is not None:
            reader, writer = os.pipe()
            os.write(writer, stdin)
            os.close(writer)
            os.dup2(reader, 0)
        os.execv(sys.executable, [*COMMAND, *arguments])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode("utf-8", "replace")


def test_a_rule_parts_the_log_from_the_report_on_a_terminal_alone() -> None:
    shown = on_a_terminal([], LOG.encode())
    before, rule, after = shown.partition("───")
    assert rule
    assert "HybridCache" in before
    assert "cache-object-float" in after
    piped = subprocess.run(COMMAND, input=LOG.encode(), capture_output=True, check=False).stdout.decode()
    assert "───" not in piped


def test_a_long_list_goes_through_the_pager(tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED $(wc -l)\n")
    pager.chmod(0o755)
    shown = on_a_terminal(["list"], None, PAGER=str(pager))
    assert "PAGED 3" in shown
    assert "cache-object-float" not in shown
    assert "PAGED" not in run("list", PAGER=str(pager)).stdout.decode()


def test_install_hints_name_no_package_of_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from troubleshooter import install

    assert install.install_command("browse").endswith("[browse]'")
    assert "install llm-troubleshooter" not in install.install_command("browse")
    monkeypatch.setattr(sys, "prefix", "/home/me/.local/share/pipx/venvs/llm-troubleshooter")
    assert install.install_command("browse").startswith("pipx inject llm-troubleshooter ")
    assert "starlette" in install.install_command("browse")
