"""What the Python of fixes uses of libraries, and what releases say to it (``python -m troubleshooter.proof``)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.load import load
from tests.conftest import Draw
from troubleshooter.proof import __main__ as proof
from troubleshooter.proof.uses import Use, uses
from troubleshooter.verify.overlays import Overlays, default_folder

ROOT = Path(__file__).parent.parent.parent
DRAWN = 400
"""Entries with code whose uses the default run compares; the stage `entries` compares all."""


def test_imports_and_calls_are_uses_and_what_the_text_defines_is_none() -> None:
    code = (
        "from transformers import Trainer as T\nimport torch.nn as nn\n"
        "class Mine: ...\nT(model, args=args)\nnn.Linear(2, bias=False)\nMine(a=1)\nLoraConfig(r=8)\nhelp_me(b=2)\n"
    )
    assert list(uses(code)) == [
        Use("transformers", "Trainer", None, 1),
        Use("torch.nn", "", None, 2),
        Use("transformers", "Trainer", ("args",), 4),
        Use("torch.nn", "Linear", ("bias",), 5),
        Use("", "LoraConfig", ("r",), 7),
    ]


def asked(*questions: tuple[str, str, list[str] | None]) -> list[str]:
    script = ROOT / "troubleshooter" / "proof" / "asked.py"
    done = subprocess.run([sys.executable, script], input=json.dumps(questions), capture_output=True, text=True, check=True)
    answers: list[str] = json.loads(done.stdout)
    return answers


def test_an_environment_says_what_it_has() -> None:
    assert asked(
        ("json", "dumps", None), ("json", "dumps", ["indent"]), ("json", "dump_all", None), ("subprocess", "run", ["anything"]),
        ("textwrap", "wrap", ["width", "no_such"]), ("no_such_package", "a", None), ("email.no_such", "", None), ("textwrap", "dedent", ["x"]),
    ) == ["", "", "json has no dump_all", "?", "?", "?", "no module email.no_such", "takes no x"]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "answers", "found"),
    [
        ("f(a=1)", ["takes no a", "", ""], "takes no a (older releases have it: say until which)"),
        ("f(a=1)   # before transformers 5", ["takes no a", "", ""], None),
        ("f(a=1)", ["takes no a", "takes no a", "takes no a"], "takes no a (in no release that was asked)"),
        ("f(a=1)", ["", "takes no a", "takes no a"], None),
        ("f(a=1)", ["?", "?", "?"], None),
    ],
)
def test_what_the_newest_refuses_must_say_for_which_releases_it_is(said: str, answers: list[str], found: str | None) -> None:
    one = proof.Asked("an-entry", 1, Use("m", "f", ("a",), 1), said)
    told = dict(zip(proof.RELEASES, answers, strict=True))
    expected = [f"an-entry, fix 1: m.f(a): {found}"] if found else []
    assert list(proof.problems([one], {one.key: told})) == expected


def test_the_uses_of_the_shipped_fixes_hold(draw: Draw) -> None:
    known = proof.kept_answers()
    with_code = [path for path in sorted((ROOT / "entries").rglob("entry.yaml")) if " code:" in path.read_text(encoding="utf-8")]
    drawn = [path.parent for path in draw(with_code, DRAWN)]
    asked_already = [one for one in proof.asked_by(load(*drawn)) if one.key in known]
    assert len(asked_already) > len(drawn)
    assert sorted(proof.problems(asked_already, known)) == []


@pytest.mark.matrix
def test_releases_still_say_what_is_kept_and_new_uses_hold(draw: Callable[..., list[str]]) -> None:
    """A draw of the kept answers, and every use that nobody has asked yet (then run ``python -m troubleshooter.proof``)."""
    known = proof.kept_answers()
    whole = {one.key: one for one in proof.asked_by(load(ROOT / "entries"))}
    wanted = [*draw(sorted(known), 60), *sorted(set(whole) - set(known))]
    found = proof.answers([whole[key] for key in wanted if key in whole], Overlays(default_folder()))
    assert {key: said for key, said in found.items() if key in known} == {key: known[key] for key in found if key in known}
    assert sorted(proof.problems([one for one in whole.values() if one.key in found], found)) == []
