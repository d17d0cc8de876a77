"""The kept proofs fit the entries of today, and what they say of an entry is what a reader is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.cache import CHECKOUT
from kb.load import Library, load
from kb.pages.render import Pages
from kb.printed import from_one_thread, proven, told_thread
from kb.proof.kept import Proofs, kept, outdated
from kb.samples import FILE, parse
from tests.conftest import Draw
from troubleshooter.cli import knowledge
from troubleshooter.pipeline import Diagnoser

DRAWN = 300
"""Entries of which the default run compares the texts; the stage `entries` compares all."""
RUN = "run `troubleshoot check --proof`, and keep kb/data/words.tsv"


@pytest.fixture(scope="module")
def proofs() -> Proofs:
    return kept()


@pytest.fixture(scope="module")
def drawn(draw: Draw) -> Library:
    folders = sorted(path.parent for path in CHECKOUT.glob("*/*/entry.yaml"))
    return load(*draw(folders, DRAWN))


def test_every_symptom_has_a_proof_and_none_is_left_over(tool: Diagnoser, proofs: Proofs) -> None:
    shipped = {(body["id"], symptom["name"]) for body in tool.knowledge.bodies() for symptom in body["symptoms"]}
    assert not shipped - proofs.keys(), f"new symptoms have no proof: {RUN}"
    assert not proofs.keys() - shipped, f"proofs of symptoms that are gone: {RUN}"


def test_proofs_are_of_the_present_texts(drawn: Library, proofs: Proofs) -> None:
    assert len(drawn.entries) >= DRAWN
    assert not outdated(drawn.entries.values(), proofs), f"texts, samples or sources have changed since: {RUN}"


def test_every_citation_holds(proofs: Proofs) -> None:
    assert [f"{entry} {name}: {proof.wrong}" for (entry, name), proof in proofs.items() if proof.wrong] == []


def test_a_symptom_from_one_thread_is_never_certain(tool: Diagnoser, proofs: Proofs) -> None:
    """On samples of every tenth entry that is known from one thread only."""
    ids = sorted({entry for (entry, _), proof in proofs.items() if proof.state == "thread"})
    alone = [id_ for id_ in ids if all(p.state == "thread" for (entry, _), p in proofs.items() if entry == id_)]
    assert len(alone) > 50
    shown = []
    for id_ in alone[::10]:
        [path] = CHECKOUT.glob(f"*/{id_}/{FILE}")
        sample = next(one for one in parse(path.read_text(encoding="utf-8")) if one.kind == "match")
        shown += [answer for answer in tool.diagnose(sample.text).diagnoses if answer.id == id_]
    assert len(shown) > 5
    assert {answer.confidence for answer in shown} <= {"likely", "possible"}
    assert any("known from one thread only" in answer.notes for answer in shown)


def test_the_page_says_that_an_entry_is_known_from_one_thread(
    tool: Diagnoser, proofs: Proofs, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = next(entry for (entry, _), proof in proofs.items() if proof.state == "thread" and told_thread(entry, "en").startswith("Known"))
    for lang, said in (("en", "Known from one thread only"), ("zh", "仅见于一个讨论帖")):
        assert said in Pages(tool.knowledge.bodies()).entry(alone, lang)
        knowledge.show(alone, [], lang, "text")
        assert said in capsys.readouterr().out
    knowledge.show(alone, [], "en", "json")
    assert json.loads(capsys.readouterr().out)["from_one_thread"] == sorted(from_one_thread(alone))
    assert told_thread("cache-object-float", "en") == ""


def test_an_entry_in_part_from_one_thread_counts_its_symptoms(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    rows = [("flux", "one", "thread"), ("flux", "two", "printed"), ("pump", "one", "printed")]
    path.write_text("\n".join(["# made", *(f"{a}\t{b}\tx\t{c}\t\t\t" for a, b, c in rows)]), encoding="utf-8")
    assert told_thread("flux", "en", path).startswith("1 of 2 symptoms are known from one thread only")
    assert from_one_thread("flux", path) == {"one"}
    assert told_thread("pump", "en", path) == ""


def test_only_what_was_found_makes_an_entry_proven(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    rows = [
        ("all-printed", "printed", ""), ("all-printed", "elsewhere", ""), ("in-part", "printed", ""), ("in-part", "thread", ""),
        ("false", "printed", "release 1.0 does not print these words"), ("false-and-run", "run", "other.py has"), ("by-run", "thread", ""),
    ]  # fmt: skip
    lines = [f"{id_}\t{number}\tx\t{state}\t\t{wrong}\t" for number, (id_, state, wrong) in enumerate(rows)]
    path.write_text("\n".join(["# made", *lines]), encoding="utf-8")
    assert proven({"by-run", "false-and-run", "own-entry"}, path) == {"all-printed", "by-run", "own-entry"}
