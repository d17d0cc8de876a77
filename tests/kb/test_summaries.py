"""The summary of an entry: what a short title leaves out, in every place where an entry or an answer is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.check import MAX_TITLE_CELLS, check, title_cells
from kb.load import load
from kb.pages.render import Pages
from kb.search import search
from kb.stamp import stamp
from troubleshooter.cli import knowledge
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.brief import lines
from troubleshooter.report.html import html
from troubleshooter.report.markdown import markdown
from troubleshooter.report.model import Report

ENTRY = """\
id: flux-gone
kind: failure
severity: crash
title: The flux is gone
summary: quuxlib 1.2 empties the <<part:word|capacitor>> before its last step
symptoms:
  - require: [{message: "the flux (?P<part>\\\\w+) is gone"}]
    source: {url: "https://github.com/quux/quuxlib/issues/1", shows: symptom}
cause: The pump stops early. It has no valve.
fixes:
  - {do: Upgrade quuxlib}
sources: [{url: "https://github.com/quux/quuxlib/issues/1", shows: cause}]
"""
CHINESE = """\
of: ""
title: 磁通消失
summary: quuxlib 1.2 在最后一步之前清空 <<part:word|电容>>
cause: 泵过早停止。没有阀门。
fixes: [{do: 升级 quuxlib}]
"""


def without(text: str) -> str:
    """The text without its summary."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("summary:"))


LOG = "RuntimeError: the flux tank is gone\n"
SUMMARY = "quuxlib 1.2 empties the tank before its last step"


def written(folder: Path, entry: str = ENTRY, chinese: str = CHINESE) -> Path:
    at = folder / "training" / "flux-gone"
    at.mkdir(parents=True, exist_ok=True)
    (at / "entry.yaml").write_text(entry, encoding="utf-8")
    (at / "zh.yaml").write_text(chinese, encoding="utf-8")
    (at / "samples.log").write_text(f"=== match one\n>>> {LOG}", encoding="utf-8")
    stamp(load(folder).entries["flux-gone"])
    return folder


def problems(folder: Path) -> list[str]:
    library = load(folder)
    return [str(problem) for problem in check(library, library.entries)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path)


@pytest.fixture
def report(folder: Path) -> Report:
    return Diagnoser.load([folder]).diagnose(LOG)


def test_an_answer_holds_the_summary_with_what_the_log_said(folder: Path, report: Report) -> None:
    found = report.diagnoses[0]
    assert (found.title, found.summary) == ("The flux is gone", SUMMARY)
    assert report.to_dict()["diagnoses"][0]["summary"] == SUMMARY
    chinese = Diagnoser.load([folder]).diagnose(LOG, lang="zh").diagnoses[0]
    assert chinese.summary == "quuxlib 1.2 在最后一步之前清空 tank"


def test_the_summary_is_the_first_line_of_why_and_is_shown_once(report: Report) -> None:
    shown = str(report).splitlines()
    why = shown.index("Why")
    assert [line.strip() for line in shown[why + 1 : why + 3]] == [SUMMARY, "The pump stops early. It has no valve."]
    for text in (str(report), markdown(report), html(report)):
        assert text.count(SUMMARY) == 1
        assert text.index(SUMMARY) < text.index("The pump stops early.")


def test_the_short_answer_takes_the_summary_for_the_reason(report: Report) -> None:
    assert lines(report, 200)[1] == f"Why: {SUMMARY}"


def test_show_search_and_pages_have_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    general = SUMMARY.replace("tank", "capacitor")
    knowledge.show("flux-gone", [folder], "en", "terminal")
    assert general in capsys.readouterr().out
    knowledge.show("flux-gone", [folder], "en", "json")
    assert json.loads(capsys.readouterr().out)["summary"].startswith("quuxlib 1.2 empties")
    found = Diagnoser.load([folder]).knowledge
    assert search(found, "empties capacitor")[0][1]["id"] == "flux-gone"
    # The head quotes the cause, too, in the page's description for search engines.
    body = Pages([found.need("flux-gone")[0]]).entry("flux-gone", "en").partition("<body")[2]
    assert body.index(f"<p>{general}</p>") < body.index("The pump stops early.")


def test_an_entry_without_a_summary_is_shown_as_before(tmp_path: Path) -> None:
    folder = written(tmp_path, without(ENTRY), without(CHINESE))
    report = Diagnoser.load([folder]).diagnose(LOG)
    assert report.diagnoses[0].summary == ""
    assert "Why\n  The pump stops early." in str(report)
    assert problems(folder) == []


def test_a_stamp_covers_the_summary(folder: Path) -> None:
    assert problems(folder) == []
    path = folder / "training" / "flux-gone" / "entry.yaml"
    path.write_text(ENTRY.replace("before its", "after its"), encoding="utf-8")
    assert any("hash of the English" in text for text in problems(folder))


@pytest.mark.parametrize(
    ("entry", "chinese", "said"),
    [
        (ENTRY, CHINESE.replace("summary:", "#"), "`summary` is written in one language only"),
        (ENTRY.replace("|capacitor", ""), CHINESE, None),
        (ENTRY.replace("part:word|capacitor", "other"), CHINESE, "<<other>> is not captured by every symptom"),
        (ENTRY.replace("The flux is gone", "The flux is gone " + 64 * "x"), CHINESE, "is 81 characters wide"),
        (ENTRY, CHINESE.replace("磁通消失", 41 * "磁"), "is 82 characters wide"),
        (without(ENTRY).replace("The flux is gone", "The flux is gone " + 64 * "x"), without(CHINESE), "is 81 characters wide"),
        (ENTRY.replace("quuxlib 1.2 empties the <<part:word|capacitor>> before its last step", "The flux is gone"), CHINESE, "repeats the title"),
        (ENTRY.replace("cause: The", "cause: quuxlib 1.2 empties the <<part:word|capacitor>> before its last step. The"), CHINESE, "repeats the title or the cause"),
    ],
)  # fmt: skip
def test_check_names_a_faulty_summary(tmp_path: Path, entry: str, chinese: str, said: str | None) -> None:
    found = problems(written(tmp_path, entry, chinese))
    assert (found == []) if said is None else any(said in text for text in found), found


def test_the_width_of_a_title_counts_what_placeholders_say() -> None:
    assert title_cells("<<name|four>> of <<other:word>>") == len("four of ") + 6
    assert title_cells("磁通") == 4
    assert MAX_TITLE_CELLS == 80
