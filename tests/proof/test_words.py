"""Which releases print the words of a symptom, whether its source says so, and which other places print them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.form import Entry
from kb.index.message import IndexedMessage
from kb.index.place import Guard, Hole, Piece
from kb.index.record import StoredSite
from kb.load import Loaded, load, load_entry
from kb.printed import FILE, printed_by, rows_of, told
from kb.proof.kept import kept, problems, write
from kb.proof.places import Places
from kb.proof.symptom_proof import SymptomProof
from kb.proof.words import prove

ROOT = Path(__file__).parent.parent.parent
RELEASES = {"gadgets": ["1.0.0", "1.1.0", "2.0.0", "2.1.0"], "widgets": ["0.1.0"]}


def message(
    package: str, file: str, function: str, *template: Piece, guard: str = "full", spans: tuple[int, int] = (0, 3),
    exception: str | None = "ValueError", kind: str = "raise",
) -> IndexedMessage:  # fmt: skip
    names = RELEASES[package]
    runs = ((names[spans[0]], names[min(spans[1], len(names) - 1)]),)
    site = StoredSite(file, function, 1, (), (Guard("if", guard, True, 0),), (), (), (spans,))
    return IndexedMessage(package, kind, exception, None, template, 0, "whole", (), (site,), False, runs, True, True, None)


class SmallIndex:
    """Some messages in place of the shipped index."""

    def __init__(self, *messages: IndexedMessage) -> None:
        self._messages = messages

    def every(self) -> Iterator[IndexedMessage]:
        yield from self._messages

    def package(self, name: str) -> str | None:
        return name if name in RELEASES else None

    def releases(self, package: str) -> list[str]:
        return RELEASES[package]

    def packages(self) -> list[str]:
        return list(RELEASES)


def entry(
    folder: Path, require: str, source: str, exclude: str = "[]", sample: str = "ValueError: no room for 7 parts in the gadget",
    more: str = "",
) -> Loaded:  # fmt: skip
    path = folder / "data" / "gadget-is-full"
    path.mkdir(parents=True)
    text = f"""
id: gadget-is-full
severity: crash
title: The gadget is full
symptoms:
  - name: full
    decisive: true
    require: {require}
    exclude: {exclude}
    source: {source}
cause: The gadget holds no more.
fixes:
  - do: Empty it
sources:
  - {{run: "made for this test", shows: [cause, fix]}}
{more}"""
    (path / "entry.yaml").write_text(text, encoding="utf-8")
    (path / "samples.log").write_text(f"=== match fill\n>>> {sample}\n", encoding="utf-8")
    [item] = load(folder).entries.values()
    return item


def proven(item: Loaded, *messages: IndexedMessage) -> SymptomProof:
    [proof] = prove(item, Places(SmallIndex(*messages)), "x", {})  # type: ignore[arg-type]
    return proof


WORDS = r'[{exception: ValueError, message: "no room for (?P<count>\\d+) parts"}]'
CITED = '{package: gadgets, file: "core.py", versions: "1.0.0-2.0.0"}'
OWN = message("gadgets", "gadgets/core.py", "Gadget.fill", "no room for ", Hole("count"), " parts in the gadget")


def test_the_releases_that_print_the_words_are_found(tmp_path: Path) -> None:
    proof = proven(entry(tmp_path, WORDS, CITED), OWN)
    assert (proof.state, proof.wrong, proof.rivals) == ("printed", "", ())
    assert [(one.package, one.releases, one.files) for one in proof.printed] == [
        ("gadgets", (("1.0.0", "2.1.0"),), ("gadgets/core.py",))
    ]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('{package: gadgets, file: "other.py", versions: "1.0.0"}', "gadgets/core.py has"),
        ('{package: gadgets, file: "core.py", versions: "1.0.0, 2.1.0"}', "release 2.1.0 does not print these words; 1.0.0 to 2.0.0 do"),
        ('{package: gadgets, file: "core.py", versions: "1.0.9"}', None),  # a sister of 1.0.0
        ('{package: gadgets, file: "core.py", versions: "0.7.0"}', None),  # not read: nothing is known
        ('{package: gadgets, file: "core.py", versions: "1.0.0, 3.7.0"}', "release 3.7.0 is newer than any that the index read (2.1.0)"),
    ],
)  # fmt: skip
def test_a_citation_that_does_not_hold_is_named(tmp_path: Path, source: str, said: str | None) -> None:
    own = message("gadgets", "gadgets/core.py", "Gadget.fill", "no room for ", Hole("n"), " parts in the gadget", spans=(0, 2))
    proof = proven(entry(tmp_path, WORDS, source), own)
    assert said in proof.wrong if said else proof.wrong == ""


@pytest.mark.parametrize(
    ("source", "state"),
    [
        ('{package: sprockets, file: "core.py", versions: "1.0"}', "not-indexed"),
        ('{package: gadgets, file: "core.cpp", versions: "1.0.0"}', "no-file"),
        ('{package: gadgets, file: "core.py", versions: "1.0.0"}', "no-message"),
        ('{url: "https://example.org/issues/1"}', "thread"),
        ('{url: "https://example.org/issues/2"}', "thread"),
        ('{url: "https://example.org/manual"}', "page"),
        ('{run: "made for this test"}', "run"),
    ],
)
def test_words_that_nothing_prints_have_a_reason(tmp_path: Path, source: str, state: str) -> None:
    other = message("gadgets", "gadgets/core.py", "Gadget.open", "the lid of the gadget is stuck")
    assert proven(entry(tmp_path, WORDS, source), other).state == state


def test_two_threads_are_more_than_one(tmp_path: Path) -> None:
    other = message("gadgets", "gadgets/core.py", "Gadget.open", "the lid of the gadget is stuck")
    source = '{url: "https://example.org/issues/1"}'
    more = '  - {url: "https://example.org/issues/%d#comment-4", shows: symptom}\n'
    assert proven(entry(tmp_path / "same", WORDS, source, more=more % 1), other).state == "thread"
    assert proven(entry(tmp_path / "two", WORDS, source, more=more % 2), other).state == "threads"
    assert proven(entry(tmp_path / "printed", WORDS, source), OWN).state == "printed"


def test_a_key_that_is_not_found_and_a_line_of_code_are_no_messages(tmp_path: Path) -> None:
    raised = message("gadgets", "gadgets/core.py", "Gadget.part", Hole("name"), exception="KeyError")
    key = proven(
        entry(tmp_path / "key", "[{exception: KeyError, message: \"^'lid'$\"}]", CITED.replace("core", "lid"), sample="KeyError: 'lid'"),
        raised,
    )
    assert key.wrong == ""
    quoted = "[{line: 'raise_if_full\\(self\\.room\\)'}]"
    sample = 'File "gadgets/core.py", line 7, in fill\n    raise_if_full(self.room)'
    prints = message("gadgets", "gadgets/log.py", "Gadget.tell", "raise_if_full(self.room)", kind="log")
    assert proven(entry(tmp_path / "code", quoted, CITED.replace("core", "log"), sample=sample), prints).state == "no-message"


RIVAL = message("widgets", "widgets/store.py", "Store.put", "no room for ", Hole("n"), " parts on the shelf", guard="len(shelf) > n", spans=(0, 0))


def test_another_package_with_a_reason_of_its_own_is_a_rival(tmp_path: Path) -> None:
    item = entry(tmp_path, WORDS, CITED)
    proof = proven(item, OWN, RIVAL)
    assert proof.rivals == ("widgets: widgets/store.py: Store.put",)
    assert "is decisive, and also printed by widgets" in problems(item, {("gadget-is-full", "full"): proof})[0].message


@pytest.mark.parametrize(
    ("require", "exclude"),
    [
        (WORDS[:-1] + ", {frame: gadgets/core.py}]", "[]"),
        (WORDS[:-1] + ", {package: gadgets}]", "[]"),
        (WORDS[:-1] + ', {line: "a gadget is opened"}]', "[]"),
        (WORDS, '[{message: "on the shelf"}]'),
        (WORDS.replace("parts", "parts in the gadget"), "[]"),
    ],
)
def test_what_else_is_asked_for_tells_a_rival_apart(tmp_path: Path, require: str, exclude: str) -> None:
    assert proven(entry(tmp_path, require, CITED, exclude), OWN, RIVAL).rivals == ()


@pytest.mark.parametrize(
    "copy",
    [
        RIVAL._replace(sites=(RIVAL.sites[0]._replace(function="Store._fill"),)),  # a copy of the function
        RIVAL._replace(sites=OWN.sites),  # the same condition
        RIVAL._replace(exception="KeyError"),
    ],
)
def test_a_copy_or_another_exception_is_no_rival(tmp_path: Path, copy: IndexedMessage) -> None:
    assert proven(entry(tmp_path, WORDS, CITED), OWN, copy).rivals == ()


def test_proofs_are_read_as_they_were_written(tmp_path: Path) -> None:
    proof = proven(entry(tmp_path, WORDS, CITED), OWN, RIVAL)
    path = tmp_path / "words.tsv"
    write({("gadget-is-full", "full"): proof}, path)
    assert kept(path) == {("gadget-is-full", "full"): proof}
    assert [one[:4] for one in printed_by("gadget-is-full", path)] == [("full", "gadgets", "1.0.0", "2.1.0")]
    assert told("gadget-is-full", "en", path) == "Printed by gadgets 1.0.0 to 2.1.0"
    assert rows_of("gadget-is", path) == []


def test_no_decisive_symptom_is_printed_elsewhere_for_another_reason() -> None:
    found = []
    for (id_, name), proof in kept().items():
        if proof.rivals and (folders := list((ROOT / "entries").glob(f"*/{id_}"))):
            item = load_entry(folders[0] / "entry.yaml")[0]
            assert item is not None
            found += [f"{id_} {name}: {proof.rivals[0]}" for one in _decisive(item.entry) if one == name]
    assert found == []


def _decisive(shown: Entry) -> list[str]:
    return [one.name or str(number) for number, one in enumerate(shown.symptoms, 1) if one.decisive]


def test_most_symptoms_are_proven() -> None:
    proofs = kept()
    assert FILE.is_file()
    assert len(proofs) > 6000
    assert sum(proof.state in ("printed", "python", "elsewhere") for proof in proofs.values()) > 0.6 * len(proofs)
