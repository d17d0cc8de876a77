"""The yardstick of public reports: its file, its scorer and its draw."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.intervals import share
from benchmarks.reports.draw import Change, break_queries, candidates, closing, interleave, queries
from benchmarks.score_reports import (
    REPORTS,
    Answer,
    BrokenCommand,
    BrokenReports,
    ask,
    by_chance,
    count,
    group,
    judge,
    load,
    measure,
    read_answer,
    table,
    to_json,
)

TOOL = """
import json, sys
text = open(sys.argv[1]).read() if sys.argv[1:] else sys.stdin.read()
if "KeyError" in text:
    found = [{"id": "key", "confidence": "likely", "title": "A key is missing", "cause": "", "fixes": [{"do": "rename the column"}]}]
elif "OSError" in text:
    sys.exit(7)
else:
    found = []
print(json.dumps({"diagnoses": found}))
sys.exit(1 if found else 3)
"""


def line(name: str, text: str, right: str, **more: object) -> str:
    keys = {"date": "2026-01-02", "tracker": "a/b", "part": "change", "reported": False, "nature": "use", "kind": "known", "echo": False, "url": "https://github.com/a/b/pull/7"}
    return json.dumps({**keys, "id": name, "text": text, "right": [right], **more})


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    file = tmp_path / "reports.jsonl"
    file.write_text("\n".join([line("a", "KeyError: 'x'", "RENAME"), line("b", "KeyError: 'y'", "upgrade"), line("c", "IndexError: 0", "x")]))
    return file


@pytest.fixture
def tool(tmp_path: Path) -> list[str]:
    file = tmp_path / "tool.py"
    file.write_text(TOOL)
    return [sys.executable, str(file)]


def test_the_published_reports_can_be_read_and_name_their_source() -> None:
    raw = [json.loads(text) for text in REPORTS.read_text(encoding="utf-8").splitlines()]
    assert len(load(REPORTS)) == len(raw) >= 150
    assert len({report["id"] for report in raw}) == len(raw)
    for report in raw:
        assert re.fullmatch(r"https://github\.com/[^/]+/[^/]+/(pull|issues|commit)/\w+", report["url"]), report["id"]
        assert "2025-07-01" <= report["date"] <= "2026-11-23"
        assert report["cause"]
        assert report["fix"]
        assert report["settled"] in ("merged change", "maintainer", "reporter")
        assert not re.search(r"/home/\w|/Users/\w", report["text"]), report["id"]


def test_an_echo_is_a_report_whose_own_lines_match() -> None:
    raw = {row["id"]: row for row in map(json.loads, REPORTS.read_text(encoding="utf-8").splitlines())}
    for report in load(REPORTS):
        assert report.echo == any(pattern.search(report.text) for pattern in report.right) == raw[report.id]["echo"]


def test_a_first_answer_is_right_wrong_or_silent(reports: Path, tool: list[str]) -> None:
    rows = measure(load(reports), lambda text: ask(tool, text))
    assert [row.verdict for row in rows] == ["right", "wrong", "silent"]
    assert [row.answer.confidence for row in rows] == ["likely", "likely", ""]
    assert count(rows)["right"] == 1
    shown = table(rows)
    assert "| all reports | 3 | 33.3% (6%-79%) | 33.3% (6%-79%) | 33.3% (6%-79%) |" in shown
    assert "| likely | 2 | 50.0%" in shown
    assert to_json(rows)["rows"][0] == {"id": "a", "verdict": "right", "answer": {"words": "A key is missing\n\nrename the column", "name": "key", "confidence": "likely", "broken": ""}}


def test_a_command_gets_a_file_where_it_asks_for_one(tool: list[str]) -> None:
    assert ask([*tool, "{file}"], "KeyError: 'x'").name == "key"


def test_plain_text_is_an_answer_as_a_whole() -> None:
    assert read_answer("Upgrade peft.\n") == Answer("Upgrade peft.")
    assert read_answer("") == Answer("")
    assert read_answer('{"diagnoses": []}') == Answer("")


def test_only_two_fixes_of_the_first_answer_count() -> None:
    first = {"title": "t", "summary": "s", "cause": "c", "fixes": [{"do": "one"}, {"do": "two"}, {"do": "three"}]}
    assert read_answer(json.dumps({"diagnoses": [first, {"title": "other"}]})).words == "t\ns\nc\none\ntwo"


def test_a_text_on_which_the_tool_breaks_has_no_answer(reports: Path, tool: list[str]) -> None:
    answer = ask(tool, "OSError: no")
    assert not answer.words
    assert answer.broken.startswith("exit status 7")
    assert judge(load(reports)[0], answer) == "silent"


def test_a_command_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(BrokenCommand, match="--command"):
        ask(["no-such-program-anywhere"], "x")


@pytest.mark.parametrize("broken", ["{", "[]", '{"id": "a"}', line("a", "x", "(")])
def test_a_broken_line_is_named(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "reports.jsonl"
    file.write_text("\n" + broken)
    with pytest.raises(BrokenReports, match=r"reports\.jsonl:2: "):
        load(file)


def test_a_missing_file_is_a_sentence_and_exit_status_two(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "benchmarks.score_reports", "--reports", str(tmp_path / "none.jsonl")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=REPORTS.parents[2])
    assert done.returncode == 2
    assert "--reports" in done.stderr
    assert "Traceback" not in done.stderr


def test_answers_that_fit_every_report_are_right_by_chance_as_well(reports: Path) -> None:
    rows = measure(load(reports), lambda text: Answer("rename, upgrade, x"))
    assert by_chance(rows) == 1.0
    assert all(judge(row.report, row.answer) == "right" for row in rows)


@pytest.mark.parametrize("text", ["see https://github.com/A/B/pull/7.", "b#7 has it", "github.com/c/d/issues/12"])
def test_a_report_that_the_tool_s_sources_name_is_counted_apart(reports: Path, text: str) -> None:
    reports.write_text(line("a", "KeyError", "x", names=["https://github.com/c/d/issues/12"]))
    rows = measure(load(reports), lambda printed: Answer("x"))
    assert "| cited by the tool | 1 |" in table(rows, text)
    assert "| not cited | 1 |" in table(rows, "b#71, a-b#7, https://github.com/a/b/pull/70")
    assert "cited" not in table(rows)


def test_small_groups_are_counted_together(reports: Path) -> None:
    rows = measure(load(reports), lambda text: Answer(""))
    assert {name: len(part) for name, part in group(rows, lambda row: row.report.id[0], 2).items()} == {"others": 3}


def test_a_share_is_shown_with_its_interval() -> None:
    assert share(0, 0) == "0.0% (0%-100%)"
    assert share(1, 2) == "50.0% (9%-91%)"


def test_a_seed_decides_the_queries() -> None:
    for make in (queries, break_queries):
        assert make(40) == make(60)[:40] != make(40, seed=1)
        assert len(set(make(200))) == 200


def test_trackers_take_turns_and_no_change_is_lost() -> None:
    changes = {name: [Change(name, f"{name}{n}", "2026-01-01", "m") for n in range(size)] for name, size in (("a/a", 3), ("b/b", 1))}
    order = list(interleave({name: list(group) for name, group in changes.items()}))
    assert [change.tracker for change in order] == ["a/a", "b/b", "a/a", "a/a"]
    assert {change.commit for change in order} == {change.commit for group in changes.values() for change in group}
    assert order == list(interleave({name: group[::-1] for name, group in changes.items()}))


def test_a_change_counts_when_its_message_names_a_printed_failure(tmp_path: Path) -> None:
    clone = tmp_path / "owner+name"
    clone.mkdir()

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(clone), "-c", "user.name=n", "-c", "user.email=e@example.org", *words], check=True, capture_output=True)

    git("init", "-q")
    for message in ("Fix KeyError: 'x' in the loader", "Tidy the page about errors", "Fix it\n\nRuntimeError: shape"):
        git("commit", "-q", "--allow-empty", "--date=2026-03-01T00:00:00Z", "-m", message)
    found = candidates(clone)
    assert [change.message.strip().partition("\n")[0] for change in found] == ["Fix it", "Fix KeyError: 'x' in the loader"]
    assert {change.tracker for change in found} == {"owner/name"}
    git("commit", "-q", "--allow-empty", "-m", "Fix a crash in the loader\n\nCloses #12")
    git("commit", "-q", "--allow-empty", "-m", "Fix a crash in the docs (closes #13)")
    assert [change.message.partition("\n")[0] for change in closing(clone)] == ["Fix a crash in the loader"]
