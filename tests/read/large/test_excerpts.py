"""Large logs: which lines are read does not depend on the chunks, and no unusual line is missed."""

from __future__ import annotations

import random
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.read.lines import lines_data
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.large.blocks import BLOCK_BYTES
from troubleshooter.read.large.excerpts import Excerpts
from troubleshooter.read.scanner import Scanner, Segment
from troubleshooter.read.sources import Unreadable, from_path, from_text
from troubleshooter.read.stream import raw_lines, read

METRIC = b"{'loss': 1.8342, 'grad_norm': 1.2718, 'learning_rate': 0.0001987, 'epoch': 0.03}\n"
FAILURE = (
    b"Traceback (most recent call last):\n"
    b'  File "/opt/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", line 778, in _convert_to_fp32\n'
    b"    return tensor.float()\n"
    b"AttributeError: 'HybridCache' object has no attribute 'float'\n"
)


ALONE = b"WARNING: The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers are unavailable\n"


def looked_at(tool: Diagnoser, data: bytes, size: int, threads: int = 2) -> list[tuple[int, bytes]]:
    chunks = iter([data[i : i + size] for i in range(0, len(data), size)])
    excerpts = Excerpts(chunks, tool.scanner.prefilter, threads)
    return [(n, raw) for first, chunk in excerpts.chunks() for n, raw in enumerate(chunk.split(b"\n"), first)]


@pytest.mark.parametrize("seed", range(12))
def test_lines_are_the_files_own_whatever_the_chunks(tool: Diagnoser, seed: int) -> None:
    pick = random.Random(seed)
    parts = []
    for i in range(pick.choice([0, 3, 2_000, 9_000, 30_000])):
        kind = pick.random()
        parts.append(
            b"x" * pick.choice([BLOCK_BYTES, 70_000, 3 * BLOCK_BYTES, 5])
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
    assert seen == looked_at(tool, data, 7_777) == looked_at(tool, data, 1 << 20, threads=0)


@pytest.mark.parametrize("seed", range(3))
def test_a_file_is_looked_at_as_a_text_is(tool: Diagnoser, tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    parts = [
        b"E%d something failed here: no such thing" % i
        if pick.random() < 0.01
        else METRIC[:-1] * pick.choice([1, 1, 1, 2])
        for i in range(60_000)
    ]
    data = b"\n".join(parts)
    path = tmp_path / "train.log"
    path.write_bytes(data)
    (source,) = from_path(path)
    assert lines_data(read(source, 0, tool.scanner)) == lines_data(read(from_text(data), 0, tool.scanner))


@pytest.mark.parametrize("segments", [1, 2])
def test_a_literal_among_error_words_is_found_whichever_folder_its_entry_is_from(segments: int) -> None:
    """A team's own entries have a segment of their own."""
    literals = [["a needle that stands alone"], ["another thread of the loom"]]
    texts = literals if segments == 2 else [[*literals[0], *literals[1]]]
    scanner = Scanner([Segment(len(part), lambda part=part: part) for part in texts])  # type: ignore[misc]
    data = DENSE * 20_000 + b"a Needle that stands alone\n" + DENSE * 9_000 + b"another thread of the loom\n" + DENSE * 20_000
    seen = {line.number: line.text for line in read(from_text(data), 0, scanner)}
    assert seen[20_001] == "a Needle that stands alone"
    assert seen[29_002] == "another thread of the loom"


DENSE = b"E0612 worker error 17: could not reach the scheduler, will retry\n"


def test_a_file_that_becomes_shorter_while_it_is_read(tool: Diagnoser, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(METRIC * 200_000)
    (source,) = from_path(path)
    lines = read(source, 0, tool.scanner)
    first = next(lines)
    path.write_bytes(METRIC * 9_000)  # a log that is rotated
    assert all(METRIC.decode().startswith(line.text) for line in [first, *lines])


def test_a_file_that_is_gone_is_a_clear_error(tool: Diagnoser, tmp_path: Path) -> None:
    path = tmp_path / "gone.log"
    path.write_bytes(METRIC)
    (source,) = from_path(path)
    path.unlink()
    with pytest.raises(Unreadable, match=r"gone\.log: cannot be read"):
        list(read(source, 0, tool.scanner))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            b"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB total capacity)\n",
            "OutOfMemory",
        ),
        (ALONE, "compiled without GPU support"),
    ],
)
@pytest.mark.parametrize("around", [b"", b"E0612 worker error 17: could not reach the scheduler, will retry\n"])
def test_what_stands_alone_is_found_among_many_others(tool: Diagnoser, line: bytes, found: str, around: bytes) -> None:
    """This also holds if every other line contains an error word: then the block is searched for all literals."""
    before, after = (METRIC + around) * 20_000, (METRIC + around) * 12_345
    seen = looked_at(tool, before + line + after, 1 << 20)
    (number,) = [number for number, raw in seen if found.encode() in raw]
    assert number == before.count(b"\n") + 1


@pytest.mark.parametrize("at", [0.0, 0.31, 0.5, 0.93, 1.0])
def test_a_failure_is_found_wherever_it_stands(tool: Diagnoser, at: float) -> None:
    before = int(60_000 * at)
    after = 60_000 - before
    # What follows a crash is another program's output: progress after it would mean that it was handled.
    data = METRIC * before + FAILURE + b"srun: error: node042: task 0: Exited with exit code 1\n" * after
    report = tool.report([from_text(data)])
    assert [d.id for d in report.diagnoses][:1] == ["cache-object-float"]
    (failure,) = [f for f in report.failures if f.exception == "AttributeError"]
    assert failure.line == before + 4
    assert report.input["bytes"] == len(data)


def test_the_first_nan_is_found_in_the_middle(tool: Diagnoser) -> None:
    bad = METRIC.replace(b"1.8342", b"0.0").replace(b"1.2718", b"nan")
    report = tool.report([from_text(METRIC * 50_000 + bad * 50_000)])
    assert report.metrics["grad_norm"]["nonfinite_line"] == 50_001


def test_many_kinds_of_odd_lines_do_not_hide_an_exception(tool: Diagnoser) -> None:
    odd = b"".join(
        b"%s could not be found\n" % bytes([97 + n % 26, 97 + n // 26 % 26, 97 + n // 676]) for n in range(4_000)
    )
    data = METRIC * 9_000 + odd * 8 + METRIC * 9_000 + FAILURE + METRIC * 9_000
    seen = looked_at(tool, data, 1 << 20)
    assert any(raw.startswith(b"AttributeError: 'HybridCache'") for _, raw in seen)
    assert len(seen) < 15_000


def test_memory_does_not_grow_with_repeated_failures(tool: Diagnoser) -> None:
    observed = tool.observe([from_text((FAILURE + METRIC) * 40_000)])
    assert len(observed.failures) == 1
    assert observed.lines < 60_000
    assert not observed.complete


def test_a_reader_that_leaves_early_leaves_no_thread_behind(tool: Diagnoser) -> None:
    before = threading.active_count()
    lines = read(from_text(METRIC * 400_000), 0, tool.scanner)
    assert isinstance(lines, Generator)
    assert any(threading.active_count() > before for _ in lines), "a log of several blocks is searched by threads"
    lines.close()
    assert threading.active_count() == before
