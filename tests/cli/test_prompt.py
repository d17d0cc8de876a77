"""The paste prompt on a real pseudo-terminal: pastes with and without marks around them, the answer, the keys."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from troubleshooter.pipeline import Diagnoser

pexpect = pytest.importorskip("pexpect", reason="pip install 'llm-troubleshooter[test]'")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")

FLOAT = [
    "Traceback (most recent call last):", '  File "x.py", line 1, in f', "    g()",
    "AttributeError: 'HybridCache' object has no attribute 'float'",
]  # fmt: skip
OVER_BLANK_LINES = ["starting", "", "quick start of the run", "", *FLOAT[:-1], "", FLOAT[-1]]
"""A log with blank lines, and a line that begins like a key."""
ARGUMENT = "TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'"
READS, ENDS = "\x1b[?2004h", "\x1b[?2004l"
"""The terminal is asked for bracketed paste when a prompt begins to read, and no longer when it ends."""


class Prompt:
    """The tool on a terminal. Whatever is sent, the next step waits for what the tool shows."""

    def __init__(self, tmp_path: Path, **environ: str) -> None:
        env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        env |= {"TERM": "xterm", "LC_ALL": "C.UTF-8", "TROUBLESHOOT_LANG": "en", "PROMPT_TOOLKIT_NO_CPR": "1", **environ}
        self.child = pexpect.spawn(
            sys.executable, ["-m", "troubleshooter"], env=env, dimensions=(60, 120), encoding="utf-8", timeout=60,
            cwd=str(tmp_path),
        )  # fmt: skip
        self.child.delaybeforesend = None
        self.wait("Paste a traceback" if env["TROUBLESHOOT_LANG"] == "en" else "粘贴")
        self.wait(READS)

    def wait(self, text: str) -> str:
        """What was shown before the text."""
        self.child.expect_exact(text)
        return str(self.child.before)

    def paste(self, lines: list[str], *, marked: bool) -> None:
        """Paste as a terminal does: line ends come as carriage returns, with bracketed paste between marks."""
        text = "\r".join(lines)
        self.child.send(f"\x1b[200~{text}\x1b[201~" if marked else text + "\r")
        self.wait(lines[-1])

    def answer(self, lines: list[str], *, marked: bool = True) -> str:
        self.paste(lines, marked=marked)
        self.child.send("\r")
        return self.acted()

    def key(self, typed: str) -> str:
        """What the tool shows for a key, which is typed: what comes at once with its Enter could be a paste."""
        self.child.send(typed)
        self.wait(typed[-5:])
        self.child.send("\r")
        return self.acted()

    def acted(self) -> str:
        """What the tool shows between the end of one prompt and the beginning of the next."""
        self.wait(ENDS)
        return self.wait(READS)

    def status(self) -> int:
        self.child.expect(pexpect.EOF)
        self.child.wait()
        return int(self.child.exitstatus)


@pytest.fixture
def prompt(tmp_path: Path, tool: Diagnoser) -> Iterator[Callable[..., Prompt]]:
    """Starts the prompt; ``tool`` has compiled the entries, so that it comes up at once."""
    made: list[Prompt] = []

    def start(**environ: str) -> Prompt:
        made.append(Prompt(tmp_path, **environ))
        return made[-1]

    yield start
    for one in made:
        one.child.close(force=True)


def quit(prompt: Prompt) -> int:
    prompt.child.send("q\r")
    return prompt.status()


@pytest.mark.parametrize("marked", [True, False])
def test_a_paste_is_answered_whole(prompt: Any, marked: bool) -> None:
    terminal = prompt()
    shown = terminal.answer(OVER_BLANK_LINES, marked=marked)
    assert "cache-object-float" in shown
    assert "Nothing wrong" not in shown
    assert quit(terminal) == 1


@pytest.mark.parametrize("marked", [True, False])
def test_a_long_paste_is_answered_whole(prompt: Any, marked: bool) -> None:
    """More than the terminal gives out at once."""
    steps = [f"{{'loss': {2 - number / 1000:.4f}, 'grad_norm': 1.1, 'epoch': {number / 100}}}" for number in range(300)]
    terminal = prompt()
    assert "cache-object-float" in terminal.answer([*steps, "", *FLOAT], marked=marked)
    assert quit(terminal) == 1


@pytest.mark.parametrize("marked", [True, False])
def test_a_second_paste_at_the_menu_is_a_new_log(prompt: Any, marked: bool) -> None:
    terminal = prompt()
    assert "cache-object-float" in terminal.answer(FLOAT)
    assert "evaluation_strategy" in terminal.answer(["step 1", "", ARGUMENT], marked=marked)
    assert quit(terminal) == 1


def test_one_pasted_line_at_the_menu_is_a_new_log(prompt: Any) -> None:
    terminal = prompt()
    terminal.answer(FLOAT)
    assert "evaluation_strategy" in terminal.answer([ARGUMENT])
    assert quit(terminal) == 1


def test_copying_says_what_it_did(prompt: Any) -> None:
    terminal = prompt()
    terminal.answer(FLOAT)
    first = terminal.key("c")
    assert "Copied fix 1 through your terminal" in first
    assert "\x1b]52;c;" in first
    assert "transformers>=4.51" in first
    second = terminal.key("c 2")
    assert "Copied fix 2" in second
    assert "use_cache" in second
    assert "There is no fix 9" in terminal.key("c 9")
    assert "There is no fix two" in terminal.key("copy two")
    assert quit(terminal) == 1


def test_without_a_clipboard_the_fix_is_printed(prompt: Any) -> None:
    terminal = prompt(TERM="linux")
    terminal.answer(FLOAT)
    shown = terminal.key("c")
    assert "No clipboard can be reached" in shown
    assert "transformers>=4.51" in shown
    assert "\x1b]52" not in shown


def test_the_desktops_clipboard_is_used_where_there_is_one(prompt: Any, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "wl-copy"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/clipboard\n")
    program.chmod(0o755)
    terminal = prompt(PATH=f"{program.parent}:{os.environ['PATH']}", WAYLAND_DISPLAY="wayland-0")
    terminal.answer(FLOAT)
    shown = terminal.key("c 1")
    assert "Copied fix 1." in shown
    assert "transformers>=4.51" in (tmp_path / "clipboard").read_text()


def test_why_is_readable(prompt: Any) -> None:
    terminal = prompt()
    terminal.answer(FLOAT)
    shown = terminal.key("w")
    assert "It needs:" in shown
    assert "line 4: AttributeError: 'HybridCache' object has no attribute 'float'" in shown
    assert "the log says otherwise: frame accelerate/utils/operations.py" in shown
    assert "not seen: version transformers" in shown
    assert "\\\\" not in shown


def test_next_shows_the_other_candidates_and_knows_when_there_is_none(prompt: Any) -> None:
    terminal = prompt()
    terminal.answer(FLOAT)
    assert "There is no other candidate." in terminal.key("n")
    terminal.answer([*FLOAT, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"])
    second = terminal.key("next")
    assert "There is no other" not in second
    assert "What the log shows" in second


def test_only_letters_and_whole_words_are_keys(prompt: Any) -> None:
    terminal = prompt()
    terminal.answer(FLOAT)
    for typed in ("clear", "z", "quiet please", "why not"):
        shown = terminal.key(typed)
        assert f"'{typed}' is no key here" in shown
        assert "c copies the first fix" in shown
        assert "\x1b]52" not in shown
    assert "v PATH" in terminal.key("help")
    terminal.child.send("quit\r")
    assert terminal.status() == 1


def test_verify_takes_a_python(prompt: Any) -> None:
    terminal = prompt()
    terminal.answer(FLOAT)
    assert "/nowhere/bin/python" in terminal.key("v /nowhere/bin/python")
    assert quit(terminal) == 1


@pytest.mark.parametrize(
    ("lines", "said", "code"),
    [(["all is well"], "No failure in what was read", 0), (["QuuxError: never seen before", "  at all"], "no entry explains", 3)],
)
def test_keys_answer_where_there_is_no_diagnosis(prompt: Any, lines: list[str], said: str, code: int) -> None:
    terminal = prompt()
    assert said in terminal.answer(lines)
    for typed in "cwnv":
        assert "There is no diagnosis here" in terminal.key(typed)
    terminal.key("p")
    terminal.child.send("\x04")
    assert terminal.status() == code


def test_chinese(prompt: Any) -> None:
    terminal = prompt(TROUBLESHOOT_LANG="zh")
    assert "cache-object-float" in terminal.answer(FLOAT)
    assert "没有其他候选" in terminal.key("n")
    assert "没有 'z' 这个键" in terminal.key("z")
    shown = terminal.key("w")
    assert "必须满足" in shown
    assert "未见" in shown
    assert "not seen" not in shown
    assert "message" not in shown


def test_end_of_input_quits(prompt: Any) -> None:
    terminal = prompt()
    terminal.child.send("\x04")
    assert terminal.status() == 0


@pytest.mark.parametrize("marked", [True, False])
def test_end_of_input_below_a_paste_answers_it(prompt: Any, marked: bool) -> None:
    terminal = prompt()
    terminal.paste(FLOAT, marked=marked)
    terminal.child.send("\x04")
    assert "cache-object-float" in terminal.acted()
    assert quit(terminal) == 1
