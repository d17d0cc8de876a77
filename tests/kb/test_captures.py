"""A capture gets the whole word: no optional character before it takes the first letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.check import check
from kb.load import load

ENTRY = """\
id: flux-gone
kind: failure
severity: crash
title: The flux is gone
symptoms:
  - require: [{message: 'the flux capacitor MESSAGE'}]
    source: {url: "https://github.com/quux/quuxlib/issues/1", shows: symptom}
cause: The pump stops early.
fixes: [{do: Upgrade quuxlib}]
sources: [{url: "https://github.com/quux/quuxlib/issues/1", shows: cause}]
"""


@pytest.mark.parametrize(
    ("pattern", "eats"),
    [
        (r"lacks .?(?P<name>\w+)", True),
        (r"lacks .?(?P<name>[a-z.]+)", True),
        (r"lacks .?(?P<name>(?:\w+\.)*\w+)", True),
        (r"lacks .?(?P<name>[^ ]+) here", True),
        (r"lacks [^\w/]?(?P<name>\w+)", False),
        (r"lacks .(?P<name>\w+)", False),
        (r"lacks .?(?P<name>pump|hose)", False),
        (r"lacks x\.?(?P<name>\w+)", False),
    ],
)
def test_an_optional_character_before_a_capture(tmp_path: Path, pattern: str, eats: bool) -> None:
    folder = tmp_path / "training" / "flux-gone"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(ENTRY.replace("MESSAGE", pattern), encoding="utf-8")
    library = load(tmp_path)
    assert not library.problems
    found = [str(one) for one in check(library) if "first letter of <<name>>" in str(one)]
    assert len(found) == eats, found
