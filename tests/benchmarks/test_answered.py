"""The count of the entries that answer people's failures."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from benchmarks.answered import Place, kept_reasons, printed, ranked
from kb.load import load


def test_the_most_frequent_comes_first_then_the_one_that_more_threads_show() -> None:
    counted = {"seldom": 1, "cited": 2, "often": 3, "alone": 2, "another": 2}
    assert ranked(counted, {"cited": 4, "seldom": 9, "alone": 1, "another": 1}) == ["often", "cited", "alone", "another", "seldom"]


def test_a_case_without_text_becomes_a_traceback() -> None:
    case = {"exception": "ValueError", "message": "no", "frames": [["a/b.py", 3, "run"]], "lines": ["    stop()"]}
    text = printed(case)
    assert text.startswith("Traceback (most recent call last):\n")
    assert 'a/b.py", line 3, in run\n    stop()\nValueError: no\n' in text


@pytest.mark.slow
def test_every_reason_is_of_an_entry_without_a_probe() -> None:
    library = load(Path("entries")).usable().entries
    reasons = kept_reasons()
    assert reasons
    for entry, (place, why) in reasons.items():
        assert entry in library, entry
        assert library[entry].entry.probe is None, f"{entry} has a probe now; take its line out of benchmarks/without_probe.tsv"
        assert place in get_args(Place)
        assert why


def test_an_unknown_place_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "reasons.tsv"
    file.write_text("# made up\nown\tmoon\tfar away\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"reasons\.tsv:2: 'moon' is no place; expected one of cpu"):
        kept_reasons(file)
