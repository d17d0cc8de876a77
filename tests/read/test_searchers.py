"""Hyperscan and Aho-Corasick find the same; without one the other is taken, without both a sentence says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Draw
from tests.golden import kept, row
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.database import SEARCHERS, VARIABLE, MissingSearcher, database
from troubleshooter.read.scanner import Scanner, Segment

ROOT = Path(__file__).parent.parent.parent
TEXTS = st.text(alphabet="aAbBéÉß \n", max_size=4)


def found(searcher: str, words: list[str], text: bytes, every: set[int]) -> list[tuple[int, int]]:
    """Each literal and the offset behind it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, searcher)
        made = database(lambda: words, every=lambda number: number in every)
    hits: list[tuple[int, int]] = []
    if made is not None:
        made.scan(text, match_event_handler=lambda number, _, stop, *__: hits.append((number, stop)))
        again: list[tuple[int, int]] = []
        made.for_thread()(text, lambda number, _, stop, *__: again.append((number, stop)))
        assert sorted(again) == sorted(hits)
    return sorted(hits)


@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, max_size=12), st.sets(st.integers(0, 5)))
def test_both_find_the_same(words: list[str], text: list[str], every: set[int]) -> None:
    data = "".join(text).encode()
    assert found("aho-corasick", words, data, every) == found("hyperscan", words, data, every)


@pytest.mark.parametrize("searcher", SEARCHERS)
def test_a_search_ends_where_the_caller_has_enough(searcher: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, searcher)
    made = database(lambda: ["a"], every=lambda number: True)
    assert made is not None
    hits: list[int] = []

    def note(number: int, start: int, stop: int, flags: int, context: object) -> bool:
        hits.append(stop)
        return len(hits) == 3

    made.for_thread()(b"a" * 10, note)
    assert hits == [1, 2, 3]


def test_answers_are_the_same_without_hyperscan(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "aho-corasick")
    tool = Diagnoser.load()
    expected = kept()
    for name in draw(sorted(expected), 500):
        assert row(name, tool) == expected[name]


def test_the_start_without_hyperscan_and_without_both(tmp_path: Path) -> None:
    log = ROOT / "tests" / "logs" / "gemma3-eval.log"
    missing = tmp_path / "missing.py"
    for packages, status in ((["hyperscan"], 1), (["hyperscan", "ahocorasick_rs"], 2), (["re2"], 2)):
        missing.write_text(
            f"import sys\nfor name in {packages}: sys.modules.pop(name, None)\n"
            "class Gone:\n    def find_spec(self, name, path=None, target=None):\n"
            f"        if name in {packages}: raise ModuleNotFoundError(name, name=name)\n"
            "sys.meta_path.insert(0, Gone())\n"
            f"sys.argv = ['troubleshoot', {str(log)!r}]\n"
            "from troubleshooter.__main__ import main\nmain()\n"
        )
        done = subprocess.run(
            [sys.executable, str(missing)], capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        if status == 2:
            assert done.stderr.count("\n") == 1, done.stderr
            assert "is installed" in done.stderr or "is not installed" in done.stderr
        else:
            assert "cache-object-float" in done.stdout


def test_an_unknown_searcher_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "grep")
    with pytest.raises(MissingSearcher, match="TROUBLESHOOT_SEARCHER=grep: expected one of hyperscan, aho-corasick"):
        Scanner([Segment(1, lambda: ["a"])])
