"""Completion in real shells, installed as a user installs it: ``troubleshoot --install-completion``, a new shell, Tab."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs pseudo-terminals", allow_module_level=True)

import pty

SHELLS = {
    "bash": ["bash", "--noprofile", "--rcfile", ".bashrc", "-i"],
    "zsh": ["zsh", "-i"],
    "fish": ["fish", "-i"],
}
LONGEST = 120.0
"""Seconds after which a shell that shows nothing counts as frozen."""
_ESCAPES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|\r|\x07|\x0f")


class Shell:
    """An interactive shell on a terminal of its own, with a home and a folder of its own."""

    def __init__(self, name: str, home: Path, program: Path) -> None:
        environment = {
            "HOME": str(home), "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8",
            "SHELL": shutil.which(name) or name, "PS1": "READY ", "XDG_CONFIG_HOME": str(home / ".config"),
            "TROUBLESHOOT_CACHE": os.environ.get("TROUBLESHOOT_CACHE", str(home / "cache")),
        }  # fmt: skip
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            os.execvpe(SHELLS[name][0], SHELLS[name], environment)
        self.seen = b""

    def type(self, text: str) -> None:
        self.seen = b""
        os.write(self.terminal, text.encode())

    def read_until(self, wanted: str) -> str:
        """What was shown up to the text. Fails when it does not come."""
        end = time.monotonic() + LONGEST
        while wanted.encode() not in self.plain():
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                pytest.fail(f"{wanted!r} was not shown; seen: {self.plain()[-800:]!r}")
            part = os.read(self.terminal, 65536)
            if b"\x1b[c" in part or b"\x1b[0c" in part:  # fish asks what terminal this is, and waits for it
                os.write(self.terminal, b"\x1b[?62c")
            self.seen += part
        return self.plain().decode("utf-8", "replace")

    def plain(self) -> bytes:
        return _ESCAPES.sub(b"", self.seen)

    def end(self) -> None:
        os.close(self.terminal)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


@pytest.fixture(scope="module", params=sorted(SHELLS))
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A shell's name, and a home in which a user ran ``--install-completion`` in that shell."""
    name = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    place = tmp_path_factory.mktemp(name)
    (place / ".zshrc").write_text("# a user's own settings\n")
    shell = Shell(name, place, PROGRAM)
    shell.type("troubleshoot --install-completion\n")
    shell.read_until("completion installed in")
    shell.type("echo and-$HOME-is-ready\n")
    shell.read_until(f"and-{place}-is-ready")
    shell.end()
    (place / "train.log").write_text("x")
    (place / "search.log").write_text("x")
    return name, place


@pytest.fixture
def shell(home: tuple[str, Path]) -> Iterator[Shell]:
    made = Shell(*home, PROGRAM)
    made.type("echo up-and-${USER:-x}running\n" if home[0] != "fish" else "echo up-and-running\n")
    made.read_until("running")
    yield made
    made.end()


PROGRAM = Path(sys.executable).with_name("troubleshoot")


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("troubleshoot verif", "troubleshoot verify"),
        ("troubleshoot --instal", "troubleshoot --install-completion"),
        ("troubleshoot --quie", "troubleshoot --quiet"),
        ("troubleshoot train.log --format mark", "--format markdown"),
        ("troubleshoot --lang z", "--lang zh"),
        ("troubleshoot show cache-object-float-un", "show cache-object-float-unsloth"),
        ("troubleshoot explain cache-object-float-un", "explain cache-object-float-unsloth"),
        ("troubleshoot wrong cache-object-float-un", "wrong cache-object-float-unsloth"),
        ("troubleshoot verify cache-object-float-un", "verify cache-object-float-unsloth"),
        ("troubleshoot --ignore cache-object-float-un", "--ignore cache-object-float-unsloth"),
        ("troubleshoot list --area quant", "--area quantization"),
        ("troubleshoot list --kind harm", "--kind harmless"),
        ("troubleshoot trai", "troubleshoot train.log"),
    ],
)
def test_tab_completes(shell: Shell, typed: str, completed: str) -> None:
    shell.type(typed + "\t")
    shell.read_until(completed)


def test_a_file_that_begins_like_a_command_is_offered_beside_it(shell: Shell) -> None:
    shell.type("troubleshoot sear\t\t\t")
    shown = shell.read_until("search.log")
    assert "search" in shown


def ask(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the completion function of bash asks, with a standard input on which a reader would wait for ever."""
    parts = words.split(" ")
    reader, writer = os.pipe()
    try:
        return subprocess.run(
            [sys.executable, "-m", "troubleshooter"], stdin=reader, capture_output=True, text=True, timeout=LONGEST, check=False,
            env={**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(len(parts) - 1), "_TROUBLESHOOT_COMPLETE": "complete_bash", **environment},
        )  # fmt: skip
    finally:
        os.close(reader)
        os.close(writer)


def test_completion_reads_no_input_and_opens_no_prompt() -> None:
    for words in ("troubleshoot ", "troubleshoot verify ", "troubleshoot x.log ", "troubleshoot - ", "troubleshoot show no-such"):
        done = ask(words)
        assert "Paste" not in done.stdout + done.stderr
        assert done.stderr == ""


def test_completion_works_with_a_broken_cache(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    done = ask("troubleshoot show cache-object-float-u", TROUBLESHOOT_CACHE=str(tmp_path / "cache"))
    assert done.stdout.split() == ["cache-object-float-unsloth"]
    assert done.stderr == ""


def test_a_broken_wheel_offers_nothing_and_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from kb import known
    from troubleshooter.cli.completion import completer
    from troubleshooter.cli.options import IGNORE

    broken = tmp_path / "knowledge.pack"
    broken.write_bytes(b"\x00garbage\n{}")
    monkeypatch.setattr(known, "PACK", broken)
    monkeypatch.setattr(known, "shipped", lambda: None)
    assert completer(IGNORE)("") == []
