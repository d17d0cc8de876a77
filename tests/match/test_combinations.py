"""A message or a line inside of `any` and `all` counts together with the other parts of its combination."""

from __future__ import annotations

from pathlib import Path

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

BOTH = "{all: [{message: flux capacitor is empty}, {line: quux refilled it}]}"
EITHER = f"{{any: [{BOTH}, {{line: capacitor of zork}}]}}"
NESTED = "{all: [{any: [{message: flux capacitor is empty}, {message: the flux is gone}]}, {line: quux refilled it}]}"
VERSION = "{any: [{all: [{message: flux capacitor is empty}, {version: {torch: '<2.4'}}]}, {line: capacitor of zork}]}"
CAPTURED = (
    "{any: [{all: [{message: 'flux capacitor (?P<one>\\w+) is empty'}, {line: 'quux refilled (?P<other>\\w+)'}, "
    "{relation: equal, of: {a: one, b: other}}]}, {line: capacitor of zork}]}"
)


@pytest.mark.parametrize(
    ("require", "shown", "number", "silent"),
    [
        (BOTH, "", "", True),
        (BOTH, "quux refilled it", "", False),
        (EITHER, "", "", True),
        (EITHER, "quux refilled it", "", False),
        (EITHER, "the capacitor of zork", "", False),
        (NESTED, "", "", True),
        (NESTED, "quux refilled it", "", False),
        (VERSION, "torch==2.6.0", "", True),
        (VERSION, "torch==2.1.0", "", False),
        (CAPTURED, "quux refilled C7", "C12 ", True),
        (CAPTURED, "quux refilled C12", "C12 ", False),
    ],
)
def test_a_message_in_a_combination_needs_the_other_parts(
    tmp_path: Path, require: str, shown: str, number: str, silent: bool
) -> None:
    folder = tmp_path / "training" / "flux-empty"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: flux-empty\nseverity: crash\ntitle: The flux capacitor of quux is empty\n"
        f"symptoms:\n  - require: [{require}]\n    source: {{run: by hand}}\n"
        "cause: Nobody filled it.\nfixes: [{do: Fill it}]\nsources: [{run: by hand, shows: [cause, fix]}]\n"
    )
    report = Diagnoser.load([tmp_path]).report([from_text(f"{shown}\nQuuxError: flux capacitor {number}is empty\n")])
    assert ([d.id for d in report.diagnoses] == []) is silent
