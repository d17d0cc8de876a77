"""``explain --reading``: which layout, frame, message, metric and fact each line was read as."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from troubleshooter.cli.reading import describe
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.reading import Reading, reading

PYTHON = """\
[rank3]: Traceback (most recent call last):
[rank3]:   File \u201c/app/train.py\u201d, line 8, in <module>
[rank3]:     main()
[rank3]:   File "/app/model.py", line 5, in main
[rank3]:     raise ValueError("x")
[rank3]: ValueError: a row
[rank3]:  is empty
"""
NOTEBOOK = """\
KeyError                                  Traceback (most recent call last)
Cell In[4], line 2
      1 rows = load()
----> 2 rows["flux"]
File /opt/rows.py:7, in Rows.__getitem__(self, name)
KeyError: 'flux'
"""
BOX = """\
╭─────────────── Traceback (most recent call last) ────────────────╮
│ /app/train.py:12 in main                                         │
│                                                                  │
│ ❱ 12     trainer.train()                                         │
╰──────────────────────────────────────────────────────────────────╯
RuntimeError: the flux is gone
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "g.py", line 5, in <module>
  |     raise ExceptionGroup("several", errors)
  | ExceptionGroup: several (1 sub-exception)
  +-+---------------- 1 ----------------
    | ValueError: bad
    +------------------------------------
"""
DEBUGGER = """\
Exception has occurred: ValueError
the flux is gone
  File "/app/train.py", line 3, in <module>
    main()
"""


def read(tool: Diagnoser, text: str) -> Reading:
    return reading(from_text(text), tool.scanner)


def notes(found: Reading) -> dict[int, list[str]]:
    """By line: the kinds of the notes on it."""
    return {line.number: [note.kind for note in line.notes] for line in found.lines}


@pytest.mark.parametrize(
    ("text", "layout", "frames", "exception"),
    [
        (PYTHON, "python", {2: "/app/train.py:8 python", 4: "/app/model.py:5 python"}, (6, "ValueError")),
        (NOTEBOOK, "notebook", {2: "In[4]:2 cell", 5: "/opt/rows.py:7 colon"}, (6, "KeyError")),
        (BOX, "rich box", {2: "/app/train.py:12 colon"}, (6, "RuntimeError")),
        (DEBUGGER, "debugger", {3: "/app/train.py:3 python"}, (2, "ValueError")),
        ("RuntimeError: the flux is gone\n", "message alone", {}, (1, "RuntimeError")),
    ],
    ids=["python", "notebook", "rich box", "debugger", "message alone"],
)
def test_each_layout_names_itself_and_its_frames(
    tool: Diagnoser, text: str, layout: str, frames: dict[int, str], exception: tuple[int, str]
) -> None:
    found = [(line.number, note) for line in read(tool, text).lines for note in line.notes]
    raised = [(number, note) for number, note in found if note.kind == "exception"]
    assert [(number, note.values["type"], note.values["layout"]) for number, note in raised] == [(*exception, layout)]
    shown = {n: "{file}:{at} {form}".format(**note.values) for n, note in found if note.kind == "frame"}
    assert {number: shown[number].removeprefix("Cell ") for number in shown} == frames


def test_prefixes_and_rewritten_lines_are_shown(tool: Diagnoser) -> None:
    lines = read(tool, PYTHON).lines
    assert [note.values for note in lines[1].notes if note.kind == "prefix of stream"] == [{"text": "[rank3]:", "stream": "rank 3"}]
    (edit,) = [note for line in lines for note in line.notes if note.kind == "edit"]
    assert edit.values == {"text": '  File "/app/train.py", line 8, in <module>', "rule": "typographic quotes"}


def test_the_rails_of_a_group_are_said_to_be_taken_off(tool: Diagnoser) -> None:
    found = read(tool, GROUP)
    assert {note.values["rule"] for line in found.lines for note in line.notes if note.kind in ("edit", "removed")} == {"group rail"}
    assert "removed" in notes(found)[5]


def test_what_is_no_traceback_is_shown_too(tool: Diagnoser) -> None:
    text = "transformers==4.50.1\nnothing here\n{'loss': 1.2, 'grad_norm': 0.5}\nKilled\nTraining completed\n"
    assert notes(read(tool, text)) == {1: ["fact"], 3: ["metric", "phase"], 4: ["exit"], 5: ["well"]}


def test_a_repeated_exception_and_lines_between_are_told_apart(tool: Diagnoser) -> None:
    found = notes(read(tool, PYTHON + PYTHON))
    assert "exception" in found[6]
    assert "again" in found[13]
    assert "between" in found[3]
    assert "message" in found[7]


@pytest.mark.parametrize(
    ("lang", "want"),
    [
        ("en", ["exception: ValueError   [layout: Python, role: where it began]", "2 lines from which nothing was read"]),
        ("zh", ["异常：ValueError   [版式：Python，角色：起因]", "2 行未读出任何内容"]),
    ],
)
def test_the_reading_is_told_in_each_language(tool: Diagnoser, lang: str, want: list[str]) -> None:
    text = "\n".join(describe(read(tool, f"{PYTHON}nothing\nat all\n"), lang))
    assert all(phrase in text for phrase in want)


def test_nothing_read_is_said(tool: Diagnoser) -> None:
    assert next(iter(describe(read(tool, "all is well\n"), "en"))).startswith("nothing was read")


def run(*arguments: str) -> tuple[int, str]:
    """The command's exit status, and what it printed on both outputs."""
    command = [sys.executable, "-m", "troubleshooter", "explain", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, (done.stdout + done.stderr).decode()


def test_the_command_takes_a_log_and_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(BOX, encoding="utf-8")
    status, text = run("--reading", "--lang", "en", str(path))
    assert status == 0
    assert "layout: Rich's box" in text
    for arguments, complaint in (
        (("--reading", "cache-object-float", str(path)), "give one log, and no entry"),
        (("cache-object-float",), "give an entry and a log"),
        (("--reading", str(tmp_path / "none.log")), "no such file"),
    ):
        status, text = run(*arguments)
        assert status == 2
        assert complaint in text
