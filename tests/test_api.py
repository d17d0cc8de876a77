"""The Python interface: which types a log may have, what is refused, and how a report is shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import troubleshooter
from troubleshooter import Diagnoser, TroubleshootError, UnreadableInput

LINE = "AttributeError: 'HybridCache' object has no attribute 'float'"
HOSTILE = "AttributeError: '<script>alert(1)</script>Cache' object has no attribute 'float' <img src=x onerror=alert(2)>"


def caught(message: str = LINE.partition(": ")[2]) -> AttributeError:
    try:
        raise AttributeError(message)
    except AttributeError as error:
        return error


def first(report: troubleshooter.Report) -> str:
    return report.diagnoses[0].id


def test_text_bytes_lines_and_path_are_logs(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text(LINE)
    for log in (LINE, LINE.encode(), [LINE], iter([LINE + "\n"]), path):
        report = troubleshooter.diagnose(log)
        assert first(report) == "cache-object-float"
        assert isinstance(report, troubleshooter.Report)
        assert isinstance(report.diagnoses[0], troubleshooter.Diagnosis)
    assert troubleshooter.diagnose(LINE, lang="zh").diagnoses[0].title != troubleshooter.diagnose(LINE).diagnoses[0].title


def test_diagnose_file_takes_a_name_or_a_path(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text(LINE)
    assert first(troubleshooter.diagnose_file(path)) == first(troubleshooter.diagnose_file(str(path))) == "cache-object-float"


def test_a_str_that_names_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.log").write_text(LINE)
    monkeypatch.chdir(tmp_path)
    for name in ("train.log", str(tmp_path / "train.log"), str(tmp_path)):
        with pytest.raises(UnreadableInput, match=r"Path\(.*\), or use diagnose_file"):
            troubleshooter.diagnose(name)
    troubleshooter.diagnose("no-such-file.log")  # a text that names nothing


@pytest.mark.parametrize("wrong", [None, 42, [LINE, Path("x.log")]])
def test_what_is_no_log_is_refused_with_a_sentence(wrong: Any) -> None:
    with pytest.raises(UnreadableInput, match=r"expected lines|pass its text"):
        troubleshooter.diagnose(wrong)


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput):
        troubleshooter.diagnose(tmp_path / "missing.log")
    with pytest.raises(UnreadableInput):
        troubleshooter.diagnose_file(tmp_path / "missing.log")


def test_errors_have_one_base() -> None:
    assert issubclass(UnreadableInput, TroubleshootError)
    assert issubclass(troubleshooter.InvalidEntries, TroubleshootError)


def test_entries_that_cannot_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "area" / "an-id"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text("id: an-id\nnonsense: 1\n")
    with pytest.raises(troubleshooter.InvalidEntries, match="nonsense"):
        troubleshooter.diagnose(LINE, entries=[tmp_path])


def test_an_exception_is_diagnosed() -> None:
    report = troubleshooter.diagnose(caught())
    assert first(report) == "cache-object-float"
    frame = report.failures[-1].frames[-1]
    assert (frame["function"], Path(frame["file"]).name) == ("caught", Path(__file__).name)
    assert report.facts["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))


def test_an_exception_is_diagnosed_with_its_causes() -> None:
    try:
        try:
            raise caught()
        except AttributeError as error:
            raise RuntimeError("evaluation failed") from error
    except RuntimeError as error:
        report = troubleshooter.diagnose(error)
    assert first(report) == "cache-object-float"
    assert [failure.exception for failure in report.failures] == ["AttributeError", "RuntimeError"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes and exception groups came with Python 3.11")
def test_an_exception_is_diagnosed_with_its_group_and_notes() -> None:
    import builtins

    group = builtins.ExceptionGroup("two workers failed", [caught(), ValueError("other")])
    assert first(troubleshooter.diagnose(group)) == "cache-object-float"
    noted = RuntimeError("evaluation failed")
    noted.add_note(LINE)
    assert first(troubleshooter.diagnose(noted)) == "cache-object-float"


def test_ignore_and_env_are_arguments() -> None:
    ignoring = troubleshooter.diagnose(LINE, ignore={"cache-object-float": "waits for 4.51"})
    assert ignoring.diagnoses == []
    assert ignoring.ignored == [{"id": "cache-object-float", "reason": "waits for 4.51"}]
    assert [one["id"] for one in troubleshooter.diagnose(LINE, ignore=["cache-object-float"]).ignored] == ["cache-object-float"]
    assert [one["id"] for one in troubleshooter.diagnose(LINE, ignore="cache-object-float").ignored] == ["cache-object-float"]
    inside = troubleshooter.diagnose(LINE, env={"transformers": "4.50.3"})
    assert inside.diagnoses[0].versions["state"] == "inside"
    assert troubleshooter.diagnose(LINE, env=sys.executable).facts["versions"]["python"]
    with pytest.raises(TroubleshootError, match="nowhere"):
        troubleshooter.diagnose(LINE, env="/nowhere/python")


def test_a_diagnoser_is_used_again_and_cannot_be_changed() -> None:
    diagnoser = Diagnoser.load(ignore={"cache-object-float": "known"}, env={"transformers": "4.50.3"})
    one, two = diagnoser.diagnose(LINE), diagnoser.diagnose(LINE)
    assert one == two
    assert one.facts["versions"] == {"transformers": "4.50.3"}
    with pytest.raises(TypeError):
        diagnoser.ignore["other"] = "no"  # type: ignore[index]
    with pytest.raises(AttributeError):
        diagnoser.more = 1  # type: ignore[attr-defined]


def test_a_report_prints_itself(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.cells import cell_len

    for lang in ("en", "zh"):
        report = troubleshooter.diagnose([*["text"] * 3, LINE, "中" * 200], lang=lang)
        for width in (40, 80, 120):
            monkeypatch.setenv("COLUMNS", str(width))
            prose = [line for line in str(report).splitlines() if not line.startswith("       ")]
            assert max(map(cell_len, prose)) <= max(width, 40)
            assert "\x1b" not in str(report)
    report.show()
    assert "cache-object-float" in capsys.readouterr().out
    assert repr(report).startswith("<Report: cache-object-float (")
    assert repr(report).endswith("; 5 lines read>")
    assert repr(troubleshooter.diagnose("fine\n")) == "<Report: nothing wrong; 1 line read>"


def test_the_notebooks_html_is_safe_and_stands_alone() -> None:
    for log in (HOSTILE, f"Quux<b>Error: {HOSTILE}", "fine\n", f"{HOSTILE}\n{LINE}"):
        shown = troubleshooter.diagnose(log)._repr_html_()
        assert "<script" not in shown
        assert "<img" not in shown
        assert " src=" not in shown.replace("&lt;img src=", "")
        assert shown.lstrip().startswith('<div class="tsr"')
        assert shown.rstrip().endswith("</div>")
    styles = shown.partition("<style>")[2].partition("</style>")[0]
    rules = [part.rpartition("}")[2].strip() for part in styles.split("{")[:-1]]
    assert rules
    assert all(selector.strip().startswith(".tsr") for rule in rules for selector in rule.split(","))


def test_importing_costs_next_to_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import troubleshooter; "
        "print(sorted(n for n in set(sys.modules) - before if n.startswith(('kb', 'troubleshooter', 'pydantic', 'rich'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['troubleshooter']"


def test_public_names_are_there() -> None:
    for name in troubleshooter.__all__:
        assert getattr(troubleshooter, name) is not None
        assert name in dir(troubleshooter)
    with pytest.raises(AttributeError):
        troubleshooter.no_such_name  # noqa: B018
    assert (Path(troubleshooter.__file__).with_name("py.typed")).is_file()
