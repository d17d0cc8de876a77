"""Which of the packages that an overlay needs are there already, and the order of overlays that hold one package twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from troubleshooter.verify.overlays import MOST_ORDERED, met, ordered


def overlay(folder: Path, **packages: str) -> Path:
    """A folder of packages: the version of each, and after ``needs`` what it requires."""
    for name, text in packages.items():
        version, _, needs = text.partition(" needs ")
        place = folder / f"{name}-{version}.dist-info"
        place.mkdir(parents=True)
        lines = [f"Requires-Dist: {one}" for one in needs.split("; ") if one]
        (place / "METADATA").write_text("\n".join(["Name: " + name, *lines]) + "\n\nabout\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("wanted", "there"),
    [
        ("hub>=1.0", True),
        ("hub>=3.0", False),
        ("numpy>=1.17", True),
        ("numpy<2", False),
        ("other", False),
        ("broken>=1", False),
    ],
)
def test_what_is_met(wanted: str, there: bool, tmp_path: Path) -> None:
    own = overlay(tmp_path / "own", hub="2.4.0")
    assert met(Requirement(wanted), {"numpy": "2.2.6+local", "broken": "no-version"}, own) is there


def test_an_overlay_whose_packages_fit_all_others_comes_first(tmp_path: Path) -> None:
    """The searched package pulls the newest hub in; the library beside it needs an older one."""
    searched = overlay(tmp_path / "searched", peft="0.11.1 needs hub>=0.17", hub="2.4.0")
    beside = overlay(tmp_path / "beside", transformers="4.45.2 needs hub<1.0,>=0.23", hub="0.36.2")
    assert ordered([searched, beside], {}) == [beside, searched]
    assert ordered([beside, searched], {}) == [beside, searched]


def test_the_given_order_stays_where_it_does_not_matter(tmp_path: Path) -> None:
    folders = [
        overlay(tmp_path / f"one{number}", **{f"own{number}": "1.0 needs hub"}, hub="1.0") for number in range(3)
    ]
    assert ordered(folders, {}) == folders
    many = [tmp_path / str(number) for number in range(MOST_ORDERED + 1)]
    assert ordered(many, {}) == many
