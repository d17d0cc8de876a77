"""The tools that build the index, without network."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from kb.errors import UsageError
from kb.index.__main__ import main
from kb.index.make import build
from kb.index.make.archives import Release
from kb.index.make.kept import KeptReleases, versions
from kb.index.make.link import spans
from kb.index.make.plan import MANY_RELEASES, Package, chosen, packages, spread
from kb.index.make.ship import linked, news, ship, shipped_releases
from tests.index.made import BETWEEN, NEW, NEWEST, OLD, PACKAGE, keep, made


def test_plan_covers_forty_packages_and_tells_what_it_skips() -> None:
    plan = packages()
    assert len(plan) >= 40
    assert plan["ms-swift"].modules == ("swift",)
    assert plan["transformers"].wants("transformers/trainer.py")
    assert not plan["transformers"].wants("transformers/models/bert/modeling_tf_bert.py")
    assert not plan["transformers"].wants("transformers-4.0.dist-info/METADATA")


def test_plan_of_another_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("packages: [{name: trl}]")
    with pytest.raises(UsageError, match=r"plan\.yaml"):
        packages(tmp_path / "plan.yaml")


def test_of_many_releases_first_and_last_of_each_minor_are_chosen() -> None:
    many = [f"1.{minor}.{patch}" for minor in range(30) for patch in range(3)]
    assert len(many) > MANY_RELEASES
    assert chosen([*many, "0.9", "2.0rc1", "odd"], "1.1")[:4] == ["1.1.0", "1.1.2", "1.2.0", "1.2.2"]
    assert chosen(many, "1.28", thin=True) == ["1.28.2", "1.29.2"]
    assert chosen(many, "1.28") == many[-6:]


def test_releases_are_read_ends_first_then_in_the_middle_of_gaps() -> None:
    assert spread([*"abcdefg"]) == ["g", "a", "d", "f", "c", "e", "b"]
    assert sorted(spread([*"abcdefghij"])) == [*"abcdefghij"]


def test_runs_of_releases() -> None:
    assert spans(0b0110111) == [(0, 2), (4, 5)]
    assert spans(0) == []


def test_release_that_breaks_off_is_not_kept(tmp_path: Path) -> None:
    def broken() -> object:
        yield "madeup/a.py", "raise ValueError('never kept')"
        raise ConnectionError

    kept = KeptReleases(tmp_path, "made-up")
    with pytest.raises(ConnectionError):
        kept.add("1.0", "url", "hash", broken())  # type: ignore[arg-type]
    kept.close()
    assert versions(tmp_path, "made-up") == []
    assert versions(tmp_path, "other") == []


def test_unchanged_files_are_read_once(tmp_path: Path) -> None:
    kept = KeptReleases(tmp_path, PACKAGE.package)
    assert kept.add("0.9", "url", "hash", OLD.items()) == 2
    assert kept.add("1.0", "url", "hash", NEW.items()) == 1
    kept.close()


def test_unknown_package_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["build", "--package", "no-such-package"])
    assert "plan.yaml" in capsys.readouterr().err


def test_package_gives_its_module_by_default() -> None:
    assert Package("a-b", "1").modules == ("a_b",)


def shipped(folder: Path) -> None:
    ship([PACKAGE], folder / "cache", folder / "messages.sqlite", {}, folder / "manifest.json")


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ({"0.9": OLD, "1.0": NEW, "1.1": NEW}, {"1.2": NEWEST}),
        (
            {"0.9": OLD, "1.0": NEW, "1.2": NEWEST},
            {"0.8": BETWEEN, "0.9.1": OLD, "0.10": BETWEEN, "1.1": NEW, "1.3": OLD},
        ),
        ({"0.9": OLD, "1.2": NEWEST}, {"1.0": NEW}),
        ({"1.0": NEW}, {"0.9": OLD}),
    ],
    ids=["newer", "all-around", "reworded-twice", "older"],
)
def test_releases_are_added_to_an_index_whose_sources_are_gone(
    tmp_path: Path, first: dict[str, dict[str, str]], later: dict[str, dict[str, str]]
) -> None:
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    for version, files in first.items():
        keep(grown / "cache", version, files)
    shipped(grown)
    (grown / "cache" / "made-up.sqlite").unlink()
    for version, files in later.items():
        keep(grown / "cache", version, files)
    shipped(grown)
    for version, files in (first | later).items():
        keep(whole / "cache", version, files)
    shipped(whole)
    for name in ("messages.sqlite", "manifest.json"):
        assert (grown / name).read_bytes() == (whole / name).read_bytes()
    assert shipped_releases(grown / "manifest.json") == {"made-up": sorted({*first, *later}, key=Version)}


def test_files_that_the_plan_leaves_out_leave_the_index(tmp_path: Path) -> None:
    fewer = Package("made-up", "0.1", ("madeup",), skip=("madeup/data.py",))
    moved = {**NEW, "madeup/load.py": NEW["madeup/data.py"]}  # the same messages, from this release on also elsewhere
    for folder in ("grown", "whole"):
        keep(tmp_path / folder / "cache", "0.9", OLD)
        keep(tmp_path / folder / "cache", "0.9.5", moved)
        if folder == "grown":
            shipped(tmp_path / folder)
            (tmp_path / folder / "cache" / "made-up.sqlite").unlink()
        keep(tmp_path / folder / "cache", "1.0", NEW)
        index = tmp_path / folder / "messages.sqlite"
        ship([fewer], tmp_path / folder / "cache", index, {}, tmp_path / folder / "manifest.json")
    assert (tmp_path / "grown" / "messages.sqlite").read_bytes() == (tmp_path / "whole" / "messages.sqlite").read_bytes()
    [item] = linked([fewer], tmp_path / "grown" / "cache", tmp_path / "grown" / "messages.sqlite")
    assert [spans(one.present) for one in item.messages if one.text.startswith("no data")] == [[(1, 1)]]


def test_an_index_stays_as_it_is_where_nothing_is_kept(tmp_path: Path) -> None:
    made(tmp_path)
    before = (tmp_path / "messages.sqlite").read_bytes()
    ship([PACKAGE], tmp_path / "empty", tmp_path / "messages.sqlite", {}, tmp_path / "manifest.json")
    assert (tmp_path / "messages.sqlite").read_bytes() == before


def test_news_are_those_since_the_shipped_index(tmp_path: Path) -> None:
    made(tmp_path)
    keep(tmp_path / "new", "1.2", NEWEST)
    keep(tmp_path / "new", "1.3", NEWEST)
    [item] = linked([PACKAGE], tmp_path / "new", tmp_path / "messages.sqlite")
    vanished, arrived = news(item, "1.1")
    assert [(message.text, message.replaced) for message in vanished] == [
        ("beta must not be negative but it is {args.beta}", "beta must not be below zero but it is {args.beta}")
    ]
    assert [message.text for message in arrived] == ["beta must not be below zero but it is {args.beta}"]


@pytest.mark.parametrize(("older", "asked"), [(False, ["1.2"]), (True, ["0.9", "1.2"])])
def test_releases_that_the_index_lacks_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: bool, asked: list[str]
) -> None:
    read = []
    releases = {one: Release("made-up", one, one, "", True) for one in ("0.9", "1.0", "1.1", "1.2")}
    monkeypatch.setattr(build, "offered", lambda package: releases)
    monkeypatch.setattr(build, "files", lambda release, package: read.append(release.url) or [])
    known = {"made-up": ["1.0", "1.1"]}
    assert build.read_releases([PACKAGE], tmp_path, known=known, older=older) == {}
    assert sorted(read) == asked
