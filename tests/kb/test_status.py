"""The life of an entry: a draft is never sure, an earlier id still leads to the entry, a retired one to its successor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kb.check import check as static
from kb.check import unread
from kb.load import load
from kb.pages.render import Pages
from kb.pages.site import build
from kb.search import search
from troubleshooter.browse.app import WebSite
from troubleshooter.browse.worker import Worker
from troubleshooter.check import check
from troubleshooter.cli import knowledge
from troubleshooter.neighbours import Neighbours
from troubleshooter.pipeline import Diagnoser
from troubleshooter.scan import record
from troubleshooter.scan.summary import summary

ENTRY = """\
id: {id}
kind: failure
severity: crash
title: The {what} is gone for good
symptoms:
  - decisive: true
    require: [{{message: the {what} capacitor is gone}}]
    source: {{url: "https://github.com/quux/quuxlib/issues/1", shows: symptom}}
cause: The pump stops early.
fixes:
  - {{do: Upgrade quuxlib}}
{more}sources: [{{url: "https://github.com/quux/quuxlib/issues/1", shows: cause}}]
"""
LOG = "RuntimeError: the flux capacitor is gone\n"


def add(folder: Path, id_: str, what: str = "flux", more: str = "", sample: str = LOG) -> Path:
    at = folder / "training" / id_
    at.mkdir(parents=True, exist_ok=True)
    (at / "entry.yaml").write_text(ENTRY.format(id=id_, what=what, more=more), encoding="utf-8")
    if sample:
        (at / "samples.log").write_text(f"=== match one\n>>> {sample}", encoding="utf-8")
    return folder


def problems(folder: Path) -> list[str]:
    library = load(folder)
    return [*map(str, library.problems), *map(str, static(library))]


def first(folder: Path, log: str = LOG, **options: object) -> tuple[str, str] | None:
    found = Diagnoser.load([folder], **options).diagnose(log).diagnoses  # type: ignore[arg-type]
    return (found[0].id, found[0].confidence) if found else None


def test_a_draft_is_at_most_possible(tmp_path: Path) -> None:
    assert first(add(tmp_path, "flux-gone")) == ("flux-gone", "certain")
    assert first(add(tmp_path, "flux-gone", more="reviewed: 2026-11-23\n")) == ("flux-gone", "certain")
    assert first(add(tmp_path, "flux-gone", more="status: draft\n")) == ("flux-gone", "possible")
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("status: finished\n", "status: Input should be 'draft'"),
        ("status: draft\nreviewed: 2026-11-23\n", "a reviewed entry is no draft"),
        ("reviewed: yesterday\n", "reviewed: "),
        ("replaced_by: flux-gone\n", "names the entry itself"),
        ("replaced_by: nobody\n", "names no entry: 'nobody'"),
        ("replaced_by: flux-retired\n", "names the retired entry 'flux-retired' (name its successor: flux-again)"),
        ("variant_of: flux-retired\n", "names the retired entry 'flux-retired' (name its successor: flux-again)"),
        ("aliases: [flux-again]\n", "is an entry's id: 'flux-again'"),
        ("aliases: [flux-old]\n", "'flux-old' is an alias of flux-again too"),
        ("aliases: [flux-older, flux-older]\n", "'flux-older' is listed twice"),
        ("aliases: [flux-older]\nreviewed: 2026-11-23\n", None),
        ("replaced_by: flux-again\n", None),
    ],
)
def test_the_life_of_an_entry_is_checked(tmp_path: Path, more: str, said: str | None) -> None:
    add(tmp_path, "flux-again", "second flux", "aliases: [flux-old]\n")
    add(tmp_path, "flux-retired", "third flux", "replaced_by: flux-again\n", sample="")
    assert problems(tmp_path) == [], "a retired entry needs no sample"
    found = problems(add(tmp_path, "flux-gone", more=more))
    assert (found == []) if said is None else any(said in text for text in found), found


def test_two_entries_cannot_replace_each_other(tmp_path: Path) -> None:
    add(tmp_path, "flux-gone", more="replaced_by: flux-again\n")
    add(tmp_path, "flux-again", "second flux", more="replaced_by: flux-gone\n")
    assert sum("names the retired entry" in text for text in problems(tmp_path)) == 2


def test_a_retired_entry_answers_nothing_and_is_not_searched(tmp_path: Path) -> None:
    add(tmp_path, "flux-gone", more="replaced_by: flux-again\n")
    add(tmp_path, "flux-again", "second flux")
    assert first(tmp_path) is None
    tool = Diagnoser.load([tmp_path])
    assert "flux-gone" not in [body["id"] for _, body in search(tool.knowledge, "flux capacitor gone", limit=50)]
    library = load(tmp_path)
    problems = check(library, tool, ["flux-gone"], beside=Neighbours(tool.knowledge, [tmp_path]), shared=False)
    assert problems == [], "its samples are not tried"


def test_show_and_list_tell_where_an_entry_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(tmp_path, "flux-gone", more="replaced_by: flux-again\n")
    add(tmp_path, "flux-again", "second flux", more="status: draft\naliases: [flux-old]\n")
    add(tmp_path, "flux-read", "third flux", more="reviewed: 2026-11-23\n")

    def said(command: object, *arguments: object, **options: object) -> str:
        command(*arguments, **options)  # type: ignore[operator]
        return capsys.readouterr().out

    retired = said(knowledge.show, "flux-gone", [tmp_path], "en", "terminal")
    assert "This entry is retired. Its successor: troubleshoot show flux-again" in retired
    draft = said(knowledge.show, "flux-old", [tmp_path], "en", "terminal")
    assert "flux-old is now called flux-again." in draft
    assert "This entry is a draft" in draft
    chinese = said(knowledge.show, "flux-gone", [tmp_path], "zh", "terminal")
    assert "这个条目已停用" in chinese
    listed = said(knowledge.list_, "training", None, False, [tmp_path], "en", "terminal")
    assert "[retired] The flux is gone" in listed
    assert "[draft] The second flux" in listed

    def with_status(status: str) -> set[str]:
        rows = json.loads(said(knowledge.list_, "training", None, False, [tmp_path], "en", "json", status=status))
        return {row["id"] for row in rows if row["id"].startswith("flux-")}

    assert with_status("draft") == {"flux-again"}
    assert with_status("reviewed") == {"flux-read"}
    assert with_status("retired") == {"flux-gone"}
    assert with_status("unread") == {"flux-again"}


def test_a_recorded_run_that_confirms_an_entry_makes_it_proven(capsys: pytest.CaptureFixture[str]) -> None:
    knowledge.list_(None, None, False, [], "en", "json", status="proven")
    assert "cache-object-float" in {row["id"] for row in json.loads(capsys.readouterr().out)}


def test_ignore_and_recorded_scans_take_an_earlier_id(tmp_path: Path) -> None:
    add(tmp_path, "flux-gone", more="aliases: [flux-old]\n")
    assert first(tmp_path, ignore=["flux-old"]) is None
    tool = Diagnoser.load([tmp_path])
    row = {
        "schema_version": 1, "job": "one", "files": ["one.log"], "stamp": "1", "modified": 1.7e9, "status": 1,
        "diagnosis": {"id": "flux-old", "kind": "failure", "title": "The flux", "fingerprint": record.fingerprint("flux-old"), "line": 1},
    }  # fmt: skip
    again = {**row, "job": "two", "diagnosis": {**row["diagnosis"], "id": "flux-gone", "fingerprint": record.fingerprint("flux-gone")}}  # type: ignore[dict-item]
    rows = record.Rows()
    rows.add([json.dumps(one).encode() + b"\n" for one in (row, again)])
    assert rows.passed_over == 0
    groups = summary(record.under_new_ids(rows, tool.knowledge.resolve))["failures"]
    assert [(group["id"], group["jobs"]) for group in groups] == [("flux-gone", 2)]


def test_pages_lead_from_earlier_ids_and_from_retired_entries(tmp_path: Path) -> None:
    add(tmp_path / "in", "flux-gone", more="replaced_by: flux-again\n")
    add(tmp_path / "in", "flux-again", "second flux", more="aliases: [flux-old]\nstatus: draft\n")
    known = Diagnoser.load([tmp_path / "in"]).knowledge
    bodies = [known.need(id_)[0] for id_ in ("flux-gone", "flux-again")]
    pages = Pages(bodies)
    page = pages.entry("flux-gone", "en")
    assert "This entry is retired;" in page
    assert 'href="../training/flux-again.html"' in page
    assert "flux-gone.html" not in pages.area("training", "en")
    assert "This entry is a draft" in pages.entry("flux-again", "en")
    build(bodies, tmp_path / "out")
    moved = (tmp_path / "out" / "training" / "flux-old.html").read_text(encoding="utf-8")
    assert 'content="0; url=../training/flux-again.html"' in moved
    client = TestClient(WebSite(bodies, Worker([], {}, 1 << 20)).app(["testserver"]))
    found = client.get("/training/flux-old.html", follow_redirects=False)
    assert (found.status_code, found.headers["location"]) == (307, "/training/flux-again.html")


def test_a_shared_entry_was_read_or_is_a_draft(tmp_path: Path) -> None:
    for id_, more, wanted in (
        ("flux-unread", "", True),
        ("flux-draft", "status: draft\n", False),
        ("flux-read", "reviewed: 2026-11-29\n", False),
    ):
        told = [problem.message for problem in unread(load(add(tmp_path / id_, id_, more=more)).entries[id_])]
        assert ("has neither `reviewed` nor `status: draft`" in told) is wanted
