"""What is found in a block is what a plain search finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.error_words import ERROR_WORDS, SHORTEST, weight
from troubleshooter.read.anomalies import ANOMALY_MARKS
from troubleshooter.read.large.block_scanner import BlockScanner, count_line_ends
from troubleshooter.read.large.blocks import BLOCK_BYTES, Block, Blocks
from troubleshooter.read.large.prefilter import MAX_ERROR_WORDS, Prefilter

ALONE = ["saving model checkpoint to", "gradient overflow", "overflow: rank", "没有足够的显存"]
LITERALS = [*ALONE, "could not reach the scheduler", "short", "all is well here"]
PREFILTER = Prefilter(ALONE, lambda: LITERALS)
PIECES = st.sampled_from(
    [*ALONE, "'loss': nan,", "loss: nan", "RuntimeError: bad", "Gradient Overflow", "radient overflow", "all is well here\n", "\n", "x"]
)
BLOCKS = st.tuples(st.lists(PIECES, max_size=12), st.integers(1, 9)).map(lambda given: ("".join(given[0]) * given[1]).encode())


def ends(text: bytes, word: str) -> list[int]:
    """Behind each place of a word."""
    found, at = [], -1
    while (at := text.find(word.encode(), at + 1)) != -1:
        found.append(at + len(word.encode()))
    return found


def found_plainly(data: bytes) -> list[int]:
    text = data.lower()
    errors = [end for word in ERROR_WORDS for end in ends(text, word)]
    if len(errors) > MAX_ERROR_WORDS:
        once = [text for text in [*LITERALS, *ANOMALY_MARKS] if weight(text) >= SHORTEST or text in (*ALONE, *ANOMALY_MARKS)]
        errors = []
        once = [word for word in once if word in LITERALS]
    else:
        once = [*ALONE, *ANOMALY_MARKS]
    return sorted({*errors, *(min(places) for word in once if (places := ends(text, word)))})


@settings(max_examples=300)
@given(st.lists(BLOCKS, min_size=1, max_size=4))
def test_all_error_words_and_the_first_of_each_other_literal(blocks: list[bytes]) -> None:
    """Whatever was searched before."""
    scanner = BlockScanner(PREFILTER)
    for data in blocks:
        scanned = scanner.scan(Block(700, bytearray(data)))
        assert [hit.end - 700 for hit in scanned.hits] == found_plainly(data)
        for hit in scanned.hits:
            start, end = hit.line_start - 700, hit.end - 700
            assert start == data.rfind(b"\n", 0, end - 1) + 1
            assert hit.text in data[start:].partition(b"\n")[0] + b"\n"


def test_a_block_full_of_error_words_is_searched_for_all_literals() -> None:
    line = "worker error: could not reach the scheduler, short\n"
    data = (line * 2 * MAX_ERROR_WORDS + "all is well here\n").encode()
    scanned = BlockScanner(PREFILTER).scan(Block(0, bytearray(data)))
    assert [hit.end for hit in scanned.hits] == [line.index(", short"), len(data) - 1]


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\n", b"a\x00\xff\n" * 70_001, b"x" * 300_000])
def test_line_ends_are_counted(data: bytes) -> None:
    assert count_line_ends(data) == count_line_ends(memoryview(data)) == data.count(b"\n")


@pytest.mark.parametrize("size", [1, 7, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES])
def test_blocks_are_the_same_whatever_the_chunks(size: int) -> None:
    data = bytes(range(251)) * (3 * BLOCK_BYTES // 251)
    for step in (size, 65_536):
        if len(data) / step > 10_000:
            continue
        blocks = Blocks([data[i : i + step] for i in range(0, len(data), step)], kept=2)
        seen = 0
        for number, block in enumerate(blocks):
            assert block.offset == number * BLOCK_BYTES
            assert bytes(block.data) == data[block.offset : block.offset + BLOCK_BYTES]
            seen += len(block.data)
            low = max(seen - BLOCK_BYTES - 100, 0)
            assert blocks.take(low, seen + 10) == data[low:seen]
        assert seen == len(data)
