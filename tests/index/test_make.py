"""The tools that build the index, without network."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.errors import UsageError
from kb.index.__main__ import main
from kb.index.make import build
from kb.index.make.archives import Release
from kb.index.make.kept import KeptReleases, versions
from kb.index.make.link import spans
from kb.index.make.plan import MANY_RELEASES, Package, chosen, packages, spread
from kb.index.make.ship import shipped_releases, would_lose
from kb.index.store import FILE
from tests.index.made import NEW, OLD, PACKAGE, made


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


def test_an_index_that_would_lose_releases_is_not_shipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path)
    cache, manifest = tmp_path / "cache", tmp_path / "manifest.json"
    assert shipped_releases(manifest) == {"made-up": ["0.9", "1.0", "1.1"]}
    assert would_lose(cache, manifest) == {}
    assert would_lose(tmp_path / "empty", manifest) == {"made-up": ["0.9", "1.0", "1.1"]}
    assert main(["build", "--offline", "--ship", "--cache", str(tmp_path / "empty")]) == 2
    assert "that the shipped index has are not kept" in capsys.readouterr().err
    assert FILE.stat().st_size > 1 << 20  # the shipped index is as it was


def test_only_releases_from_the_last_shipped_one_on_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(build, "offered", lambda package: {one: Release(package, one, f"{package}/{one}.whl", "", True) for one in ("0.9", "1.0", "1.1", "1.2")})
    monkeypatch.setattr(build, "files", lambda release, package: asked.append(release.url) or [])
    assert build.read_releases([PACKAGE], tmp_path, after={"made-up": "1.1"}) == {}
    assert sorted(asked) == ["made-up/1.1.whl", "made-up/1.2.whl"]
