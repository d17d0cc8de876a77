"""What is found in a block does not depend on the blocks before it: frequent words left out of the search change nothing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from troubleshooter.read import surveyor
from troubleshooter.read.standing import Standing
from troubleshooter.read.surveyor import Surveyor

WORDS = ["saving model checkpoint to", "gradient overflow", "overflow: rank", "没有足够的显存"]
PIECES = st.sampled_from(
    [*WORDS, "'loss': nan,", "loss: nan", "RuntimeError: bad", "Gradient Overflow", "radient overflow", "all is well here\n", "\n", "x"]
)
BLOCKS = st.lists(st.tuples(st.lists(PIECES, max_size=12), st.integers(1, 9)), min_size=1, max_size=8)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveyor, "PATIENCE", 1)
    monkeypatch.setattr(surveyor, "START", 90)
    monkeypatch.setattr(surveyor, "FREQUENT", 2)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BLOCKS)
def test_what_is_found_is_that_of_a_search_for_everything(impatient: None, blocks: list[tuple[list[str], int]]) -> None:
    standing = Standing(WORDS)
    one = Surveyor(standing)
    for pieces, times in blocks:
        block = ("".join(pieces) * times).encode()
        assert one.ends(block) == Surveyor(standing).ends(block)


def test_a_frequent_word_is_left_out_of_the_rest_of_the_blocks_that_begin_with_it(
    impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = Standing(WORDS)
    left: list[frozenset[int]] = []
    without = standing.without
    monkeypatch.setattr(standing, "without", lambda numbers: left.append(frozenset(numbers)) or without(numbers))
    one = Surveyor(standing)
    block = b"{'loss': nan, 'epoch': 1}\n" * 50
    for _ in range(40):
        assert one.ends(block) == [12]
    assert len(left) == 1
    assert {standing.words[number] for number in left[0]} == {"': nan", ": nan"}
    assert one.ends(b"all is well\n" * 20 + block + b"gradient overflow") == [252, 1557]


def test_words_that_change_from_block_to_block_are_not_chased(impatient: None) -> None:
    standing = Standing(WORDS)
    one = Surveyor(standing)
    for number in range(64):
        one.ends((WORDS[number % 3] + "\n").encode() * 40)
    assert one._frequent._made <= surveyor.DATABASES
