"""Every format of the table prints every report; the line for machines can be taken apart and is never too long."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Stop, from_path, from_text
from troubleshooter.report.line import MAX_LINE_BYTES, line
from troubleshooter.report.model import Report
from troubleshooter.report.render import FOR_READERS, FORMATS, render

ROOT = Path(__file__).parent.parent.parent
UNKNOWN = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nQuuxError: the flux is gone\n'
HARMLESS = "No label_names provided for model class `PeftModelForCausalLM`. Since `PeftModel` hides base models input arguments"


def read(text: str) -> dict[str, str]:
    """The pairs of a line, its JSON strings decoded."""
    pairs: dict[str, str] = {}
    decoder = json.JSONDecoder()
    while text:
        key, _, text = text.partition("=")
        if text.startswith('"'):
            pairs[key], end = decoder.raw_decode(text)
        else:
            end = len(text.split(" ")[0])
            pairs[key] = text[:end]
        text = text[end:].removeprefix(" ")
    return pairs


@pytest.fixture
def reports(tool: Diagnoser) -> list[Report]:
    stopped = from_text("step 1\n")
    stopped.stop = Stop("SIGTERM", 12.0)
    known = from_path(ROOT / "tests" / "logs" / "gemma3-eval.log")
    return [tool.report(one) for one in (known, [from_text(UNKNOWN)], [from_text(HARMLESS)], [stopped], [from_text("step 1\n")])]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_prints_every_report(reports: list[Report], capsys: pytest.CaptureFixture[str], format: str) -> None:
    for number, report in enumerate(reports):
        render(report, format, several=True, first=number == 0)
        shown = capsys.readouterr().out
        assert shown.endswith("\n")
        if report.diagnoses:
            assert report.diagnoses[0].id in shown


def test_formats_for_readers_are_formats() -> None:
    assert set(FORMATS) > FOR_READERS


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_documented(format: str) -> None:
    table = [line for line in (ROOT / "docs" / "using.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert any(row.startswith(f"| `{format}` |") for row in table), f"docs/using.md, Formats: a row for `{format}` is missing"


def test_a_line_holds_the_first_answer(reports: list[Report]) -> None:
    known, unknown, harmless, stopped, nothing = (read(line(report)) for report in reports)
    title = reports[0].diagnoses[0].title
    assert {key: known[key] for key in ("exit", "verdict", "id", "confidence", "severity", "retry", "decision", "line", "text")} == {
        "exit": "1", "verdict": "failure", "id": "cache-object-float", "confidence": "certain", "severity": "crash",
        "retry": "after-fix", "decision": "useless", "line": "60", "text": title,
    }  # fmt: skip
    assert known["file"].endswith("gemma3-eval.log")
    assert unknown == {
        "exit": "3", "verdict": "unexplained", "decision": "useless", "exception": "QuuxError", "line": "4", "file": "text", "text": "the flux is gone"
    }  # fmt: skip
    assert (harmless["exit"], harmless["verdict"], harmless["id"]) == ("0", "harmless", "label-names-peft-warning")
    assert (stopped["exit"], stopped["verdict"], stopped["signal"]) == ("3", "stopped", "SIGTERM")
    assert (nothing["exit"], nothing["verdict"]) == ("0", "nothing")


def test_a_shell_takes_a_line_apart(reports: list[Report]) -> None:
    assert "id=cache-object-float" in shlex.split(line(reports[0]))


@pytest.mark.parametrize("name", ["a", "日" * 200, "\udcff" * 90 + "\x1b[31m", 'with "quotes" and\nline breaks' * 20])
@pytest.mark.parametrize("message", ["x" * 5000, "错误" * 900, "\x9b\u202e" * 400, "\\\"'" * 900, "m"])
def test_a_line_is_bounded_and_stays_one_line(tool: Diagnoser, name: str, message: str) -> None:
    source = from_text(f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n{"Quux" * 60}Error: {message}\n')
    source.name = name
    report = tool.report([source])
    shown = line(report)
    assert len(shown.encode()) < MAX_LINE_BYTES
    assert shown.isprintable()
    pairs = read(shown)
    assert list(pairs)[-2:] == ["file", "text"]
    if name == "a" and message == "m":
        assert (pairs["file"], pairs["text"]) == ("a", "m")


def test_a_cut_file_name_keeps_its_end(tool: Diagnoser) -> None:
    source = from_text(UNKNOWN)
    source.name = "/scratch/" + "deep/" * 60 + "rank0.log"
    file = read(line(tool.report([source])))["file"]
    assert file.startswith("…")
    assert file.endswith("/rank0.log")
