"""Which Pythons can install what the fixes ask for (``python -m troubleshooter.proof.installable``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.cache import CHECKOUT
from kb.load import Library, load
from tests.conftest import Draw
from troubleshooter.proof import installable as proof
from troubleshooter.proof.installable import COMMON, Installable, Wish
from troubleshooter.proof.offered import PYTHONS, releases

DRAWN = 600
"""Entries of which the default run asks; the stage `entries` asks all."""
OLD, NEW = PYTHONS[:3], PYTHONS[2:]


def told(*asked: str, said: str = "Upgrade it", elsewhere: bool = False) -> list[str]:
    known = {
        "flux<1": Installable(OLD),
        "flux>=2": Installable(NEW),
        "pump": Installable(PYTHONS),
        "gone": Installable(()),
        "pump[oil]": Installable(PYTHONS, ("oil",)),
    }
    return list(proof.problems([Wish("flux-empty", 2, asked, said, elsewhere)], known))


def test_a_fix_says_which_python_it_needs() -> None:
    assert told("flux<1") == [
        "flux-empty, fix 2: only Python 3.9, 3.10, 3.11 can install flux<1: say so beside the command"
    ]
    assert told("flux<1", said="Go back (Python 3.11 or older)") == []
    assert told("flux<1", said="Go back (Python 3.10 or older)") == [
        "flux-empty, fix 2: only Python 3.9, 3.10, 3.11 can install flux<1, and the fix names another range"
    ]
    assert told("flux<1", said="conda create -n old python=3.9") == []
    assert told("pump") == []


def test_an_extra_that_is_gone_is_a_problem_under_every_python() -> None:
    told_of = "flux-empty, fix 2: the newest release that pump[oil] allows has no extra oil"
    assert told("pump[oil]", said="Use python=3.11") == [told_of]


def test_all_that_one_line_installs_goes_into_one_python() -> None:
    assert told("flux<1", "flux>=2") == [
        "flux-empty, fix 2: only Python 3.11 can install flux<1 flux>=2: say so beside the command"
    ]


def test_what_no_python_can_install_is_a_problem_unless_it_comes_from_elsewhere() -> None:
    assert told("gone") == ["flux-empty, fix 2: no Python can install gone: say so beside the command"]
    assert told("gone", elsewhere=True) == []


@pytest.mark.parametrize(
    ("filename", "bound", "fits"),
    [
        ("flux-1.0-py3-none-any.whl", "", PYTHONS),
        ("flux-1.0-py3-none-any.whl", ">=3.11", NEW),
        ("flux-1.0-py3-none-any.whl", ">=3.9,<3.12", OLD),
        ("flux-1.0-cp311-cp311-manylinux_2_28_x86_64.whl", "", ("3.11",)),
        ("flux-1.0-cp311-abi3-win_amd64.whl", "", NEW),  # a package that has wheels for Windows alone
        ("flux-1.0-py310-none-any.whl", "", PYTHONS[1:]),
        ("flux-1.0-py2-none-any.whl", "", ()),
        ("flux-1.0.tar.gz", "<3.12", OLD),
        ("flux-1.0.tar.gz", "not a bound", PYTHONS),
        ("flux-1.0.exe", "", ()),
    ],
)
def test_a_python_takes_what_its_name_and_bound_allow(filename: str, bound: str, fits: tuple[str, ...]) -> None:
    there = releases([{"filename": filename, "requires-python": bound}])
    assert proof.pythons("flux>=1", there) == fits
    assert proof.pythons("flux<1", there) == ()


def test_a_wheel_for_another_system_counts_only_if_there_is_none_for_the_usual_one() -> None:
    of_arm = {"filename": "flux-1.0-cp310-cp310-manylinux2014_aarch64.whl"}
    usual = {"filename": "flux-1.0-cp39-cp39-manylinux2014_x86_64.whl"}
    assert proof.pythons("flux", releases([of_arm, usual])) == ("3.9",)
    assert proof.pythons("flux", releases([of_arm])) == ("3.10",)


def test_a_release_that_was_taken_back_is_none() -> None:
    files = [{"filename": "flux-1.0.tar.gz", "yanked": "broken", "requires-python": None}]
    assert proof.pythons("flux", releases(files)) == ()


def test_answers_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "installable.tsv"
    assert proof.kept_answers(path) == {}
    answers = {"flux>=2": Installable(NEW), "gone": Installable(()), "pump[oil]": Installable(PYTHONS, ("oil",))}
    proof.write(answers, path)
    assert proof.kept_answers(path) == answers


def test_every_fix_can_be_installed_or_says_where(draw: Draw) -> None:
    """A draw of the entries, against the kept answers."""
    folders = sorted(path.parent for path in CHECKOUT.glob("*/*/entry.yaml"))
    library: Library = load(*draw(folders, DRAWN))
    wishes, known = list(proof.wishes(library)), proof.kept_answers()
    missing = sorted({asked for wish in wishes for asked in wish.asked} - known.keys())
    assert not missing, "nobody has asked for these: run python -m troubleshooter.proof.installable, and keep its file"
    assert len(wishes) > DRAWN / 10
    assert list(proof.problems(wishes, known)) == []
    assert any(set(known[asked].pythons) >= COMMON for wish in wishes for asked in wish.asked)
