"""A new release is read: which entries quote a message that it no longer prints."""

from __future__ import annotations

from pathlib import Path

from kb.index.make.concerned import ConcernedEntry, concerned
from kb.index.make.link import LinkedMessage
from kb.index.make.ship import linked, news
from kb.load import Loaded, load
from tests.index.made import NEW, OLD, PACKAGE, keep

REWORDED = "ValueError: beta should not be negative but is -0.5"
GONE = "the old trainer is training for 300 steps"
STAYS = "ValueError: evaluation wants a dataset, strategy is steps"


def vanished(folder: Path) -> list[LinkedMessage]:
    for version, files in (("0.9", OLD), ("1.0", NEW)):
        keep(folder, version, files)
    [item] = linked([PACKAGE], folder, folder / "no-index.sqlite")
    return news(item, "0.9")[0]


def entries(folder: Path, **samples: str) -> list[Loaded]:
    """An entry for each sample, by its id."""
    for id_, sample in samples.items():
        place = folder / "data" / id_
        place.mkdir(parents=True)
        (place / "entry.yaml").write_text(
            f"id: {id_}\nseverity: crash\ntitle: The old words are gone\nsymptoms:\n  - name: said\n    require:\n      - line: {sample[:20]!r}\n"
            "    source: {run: made for this test}\ncause: The trainer says it.\nfixes:\n  - do: Mend it\n"
            "sources:\n  - {run: made for this test, shows: [cause, fix]}\n"
        )
        (place / "samples.log").write_text(f"=== match said\n>>> {sample}\n")
    return list(load(folder).entries.values())


def test_entries_that_quote_a_vanished_message(tmp_path: Path) -> None:
    gone = vanished(tmp_path / "cache")
    found = list(
        concerned(
            gone,
            entries(tmp_path / "own", reworded=REWORDED, gone=GONE, stays=STAYS, mark="o\n>>> b"),
            {"reworded", "gone", "stays", "mark"},
        )
    )
    assert sorted(found) == [
        ConcernedEntry("gone", GONE, None),
        ConcernedEntry("reworded", REWORDED, "beta must not be negative but it is {args.beta}"),
    ]


def test_entries_of_other_packages_are_left_alone(tmp_path: Path) -> None:
    gone = vanished(tmp_path / "cache")
    assert list(concerned(gone, entries(tmp_path / "own", gone=GONE), {"another"})) == []
