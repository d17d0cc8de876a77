"""Large logs: read once in blocks; what is looked at does not depend on the chunks, and nothing that stands out is missed."""

from __future__ import annotations

import random

import pytest

from troubleshooter.read.log import BLOCK, StreamLog
from troubleshooter.read.sources import from_text
from troubleshooter.read.stream import raw_lines
from troubleshooter.read.windows import Windows
from troubleshooter.tool import Tool

METRIC = b"{'loss': 1.8342, 'grad_norm': 1.2718, 'learning_rate': 0.0001987, 'epoch': 0.03}\n"
FAILURE = (
    b"Traceback (most recent call last):\n"
    b'  File "/opt/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", line 778, in _convert_to_fp32\n'
    b"    return tensor.float()\n"
    b"AttributeError: 'HybridCache' object has no attribute 'float'\n"
)


def looked_at(tool: Tool, data: bytes, size: int, helpers: int = 0) -> list[tuple[int, bytes]]:
    chunks = iter([data[i : i + size] for i in range(0, len(data), size)])
    windows = Windows(StreamLog(chunks), tool.scanner, helpers)
    return [(n, raw) for first, piece in windows.pieces() for n, raw in enumerate(piece.split(b"\n"), first)]


@pytest.mark.parametrize("seed", range(12))
def test_lines_are_the_files_own_whatever_the_chunks(tool: Tool, seed: int) -> None:
    pick = random.Random(seed)
    parts = []
    for i in range(pick.choice([0, 3, 2_000, 9_000, 30_000])):
        kind = pick.random()
        parts.append(
            b"x" * pick.choice([BLOCK, 70_000, 3 * BLOCK, 5])
            if kind < 0.0008
            else b"RuntimeError: odd %d" % i
            if kind < 0.003
            else METRIC[:-1]
        )
    data = b"\n".join(parts) + (b"\n" if pick.random() < 0.5 else b"")
    real = dict(raw_lines(iter([data])))
    seen = looked_at(tool, data, max(1, len(data)))
    numbers = [number for number, _ in seen]
    assert numbers == sorted(set(numbers))
    for number, raw in seen:
        assert raw[:50_000] == real.get(number, b"")[:50_000]
    assert seen == looked_at(tool, data, 7_777) == looked_at(tool, data, 1 << 20, helpers=2)
    if len(data) <= BLOCK:
        assert len(seen) >= len(real)


@pytest.mark.parametrize("at", [0.0, 0.31, 0.5, 0.93, 1.0])
def test_a_failure_is_found_wherever_it_stands(tool: Tool, at: float) -> None:
    before = int(60_000 * at)
    after = 60_000 - before
    # What follows a crash is another program's output: progress after it would mean that it was handled.
    data = METRIC * before + FAILURE + b"srun: error: node042: task 0: Exited with exit code 1\n" * after
    report = tool.report([from_text(data)])
    assert [d.id for d in report.diagnoses][:1] == ["cache-object-float"]
    (failure,) = [f for f in report.failures if f.exception == "AttributeError"]
    assert failure.line == before + 4
    assert report.input["bytes"] == len(data)


def test_the_first_nan_is_found_in_the_middle(tool: Tool) -> None:
    bad = METRIC.replace(b"1.8342", b"0.0").replace(b"1.2718", b"nan")
    report = tool.report([from_text(METRIC * 50_000 + bad * 50_000)])
    assert report.metrics["grad_norm"]["nonfinite_line"] == 50_001


def test_memory_does_not_grow_with_repeated_failures(tool: Tool) -> None:
    observed = tool.observe([from_text((FAILURE + METRIC) * 40_000)])
    assert len(observed.failures) == 1
    assert observed.lines < 60_000
    assert not observed.complete
