"""Large logs: read once in blocks; what is looked at does not depend on the chunks, and nothing that stands out is missed."""

from __future__ import annotations

import gzip
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from troubleshooter.observe.marks import MARKS
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read import apart, sources, survey
from troubleshooter.read.log import ALL, BLOCK, RAISED, Block, FileLog, StreamLog
from troubleshooter.read.scanner import Scanner, Segment
from troubleshooter.read.sources import Source, Unreadable, from_path, from_text
from troubleshooter.read.standing import Standing
from troubleshooter.read.stream import raw_lines, read
from troubleshooter.read.surveyor import Surveyor
from troubleshooter.read.windows import Windows

METRIC = b"{'loss': 1.8342, 'grad_norm': 1.2718, 'learning_rate': 0.0001987, 'epoch': 0.03}\n"
FAILURE = (
    b"Traceback (most recent call last):\n"
    b'  File "/opt/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", line 778, in _convert_to_fp32\n'
    b"    return tensor.float()\n"
    b"AttributeError: 'HybridCache' object has no attribute 'float'\n"
)


ALONE = b"WARNING: The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers are unavailable\n"


def looked_at(tool: Diagnoser, data: bytes, size: int, helpers: int = 0) -> list[tuple[int, bytes]]:
    chunks = iter([data[i : i + size] for i in range(0, len(data), size)])
    windows = Windows(StreamLog(chunks), tool.scanner, helpers)
    return [(n, raw) for first, piece in windows.pieces() for n, raw in enumerate(piece.split(b"\n"), first)]


def survey_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("survey-")]


@pytest.mark.parametrize("looks_up", [False, True])
def test_line_ends_are_counted_either_way(monkeypatch: pytest.MonkeyPatch, looks_up: bool) -> None:
    monkeypatch.setattr(survey, "_LOOKS_UP", looks_up)
    for data in (b"", b"\n", b"\r\n\n", b"a\x00\xff\n" * 70_001, b"x" * 300_000):
        assert survey.line_ends(data) == survey.line_ends(memoryview(data)) == data.count(b"\n")


@pytest.mark.parametrize("seed", range(12))
def test_lines_are_the_files_own_whatever_the_chunks(tool: Diagnoser, seed: int) -> None:
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


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_a_file_is_looked_at_as_a_stream_is(tool: Diagnoser, tmp_path: Path, helpers: int) -> None:
    pick = random.Random(helpers)
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
    with source.log() as log:
        assert isinstance(log, FileLog)
        from_file = list(Windows(log, tool.scanner, helpers).pieces())
    assert from_file == list(Windows(StreamLog(iter([data])), tool.scanner).pieces())


DENSE = b"E0612 worker error 17: could not reach the scheduler, will retry\n"


def everything(tool: Diagnoser) -> Callable[[], Standing]:
    """What a process searches for that begins before the scanner of lines is there."""

    def make() -> Standing:
        made = Standing.of(tool.knowledge.packs, None)
        made.complete_by = lambda: Scanner([Segment(*s) for s in tool.knowledge.segments()], None, MARKS, made)
        return made

    return make


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Source]:
    """A file of these bytes, which counts as large from one block on."""

    def make(data: bytes) -> Source:
        monkeypatch.setattr(sources, "LARGE", BLOCK)
        path = tmp_path / "train.log"
        path.write_bytes(data)
        (source,) = from_path(path)
        return source

    return make


@pytest.fixture
def begun(tool: Diagnoser, large: Callable[[bytes], Source]) -> Callable[[bytes, int], Source]:
    """A source of these bytes of which a search was begun, in so many processes."""

    def make(data: bytes, processes: int) -> Source:
        source = large(data)
        assert source.begin(everything(tool), processes)
        return source

    return make


def processes_of(source: Source) -> list[int]:
    assert source.begun is not None
    assert source.begun.apart is not None
    return list(source.begun.apart._children)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("line", [METRIC, DENSE])
def test_a_search_begun_ahead_finds_the_same(
    tool: Diagnoser, begun: Callable[[bytes, int], Source], line: bytes, processes: int
) -> None:
    """Also where blocks are dense: they are searched for every literal."""
    source = begun(line * 30_000 + FAILURE + ALONE + METRIC * 20_000, processes)
    assert source.path is not None
    (plain,) = from_path(source.path)
    children = processes_of(source)
    found = list(read(source, 0, tool.scanner))
    assert found == list(read(plain, 0, tool.scanner))
    assert any("HybridCache" in seen.text for seen in found)
    assert any("without GPU support" in seen.text for seen in found)
    assert not any(map(is_there, children))


def many_kinds(count: int, forms: str = "{w}Error: no {w}\ncannot find {w}\n") -> bytes:
    """Exceptions and other failures, each of another kind, so many of both, few enough of them in a block."""
    word = ["".join(chr(97 + n // 26**k % 26) for k in range(3)) for n in range(count)]
    return b"".join(METRIC * 250 + forms.format(w=w).encode() for w in word)


@pytest.mark.parametrize("kinds", [390, 450])
def test_when_no_place_is_wanted_any_more_lines_are_only_counted(
    tool: Diagnoser, begun: Callable[[bytes, int], Source], monkeypatch: pytest.MonkeyPatch, kinds: int
) -> None:
    """What is found and its numbers stay the same, however far ahead another process is."""
    searched: list[int] = []
    ends = Surveyor.ends

    def counted(surveyor: Surveyor, block: bytes | bytearray) -> list[int]:
        searched.append(len(block))
        return ends(surveyor, block)

    monkeypatch.setattr(Surveyor, "ends", counted)
    data = many_kinds(kinds) + (METRIC * 9 + b"odd Error: 17\n") * 30_000 + FAILURE
    source = begun(data, 2)
    assert source.path is not None
    (plain,) = from_path(source.path)
    apart_found = list(read(source, 0, tool.scanner))
    searched.clear()
    alone = list(read(plain, 0, tool.scanner))
    assert apart_found == alone
    assert [seen.number for seen in alone if "HybridCache" in seen.text] == [data.count(b"\n")]
    blocks = -(-len(data) // BLOCK)
    assert blocks > 50
    assert (len(searched) < blocks / 2) == (kinds > 400)


@pytest.mark.parametrize("seed", range(8))
def test_when_exceptions_alone_are_wanted_the_same_is_looked_at(
    tool: Diagnoser, begun: Callable[[bytes, int], Source], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A traceback that begins at the end of a block, without an exception's name in the next one, among them."""
    pick = random.Random(seed)
    parts = [many_kinds(410, "cannot find {w}\n")]
    size = len(parts[0])
    for _ in range(25):
        space = -size % BLOCK - pick.choice([0, 40, 90, 300, 3_000, 60_000, 400_000])
        filler = METRIC * (max(space, 0) // len(METRIC)) + b"." * (max(space, 0) % len(METRIC) - 1) + b"\n"
        word = "".join(pick.choices("abcdefghij", k=9)).encode()
        what = pick.choice([
            b"Traceback (most recent call last):\n" + METRIC * 3 + b"exc.Unsupported: could not " + word + b"\n",
            b"cannot find " + word + b"\n",
            b"x" * 300 + b" invalid " + word + b" Error: x\n",
            b"my.odd.%sException\n" % word,
            b"no %s Error\n" % word,
            FAILURE + b"cannot go on with " + word + b"\n",
            DENSE * 90,
        ])  # fmt: skip
        parts.append(filler + what)
        size += len(parts[-1])
    data = b"".join(parts)
    source = begun(data, 2)
    assert source.path is not None
    (plain,) = from_path(source.path)
    apart_found = list(read(source, 0, tool.scanner))
    found = looked_at(tool, data, 300_000)
    wanted: list[int] = []
    usual = Windows._wanted
    monkeypatch.setattr(Windows, "_wanted", lambda self: wanted.append(usual(self)) or ALL)
    assert looked_at(tool, data, 300_000) == found
    assert wanted[-1] == RAISED
    assert apart_found == list(read(plain, 0, tool.scanner))


class Ahead:
    """A search that has done all blocks before the first of them is asked for."""

    def __init__(self, log: FileLog, standing: Standing) -> None:
        worker = survey.Worker(standing)
        self._items = [survey.Surveyed(block) for block in log.blocks()]
        self._given = 0
        self.wanted: list[int] = []
        for item in self._items:
            item.survey(worker)

    def surveyed(self, standing: Standing) -> Iterator[survey.Surveyed]:
        for item in self._items:
            self._given += 1
            yield item

    def at_hand(self) -> bool:
        return self._given < len(self._items)

    def want(self, places: int) -> None:
        self.wanted.append(places)

    def close(self) -> None:
        """Nothing goes on."""


def test_what_waits_is_chosen_before_anything_is_read(tool: Diagnoser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(many_kinds(410, "cannot find {w}\n") + METRIC * 40_000)
    (source,) = from_path(path)
    with source.log() as log:
        assert isinstance(log, FileLog)
        plain = list(Windows(log, tool.scanner).pieces())
        ahead = Ahead(log, tool.scanner.standing)
        monkeypatch.setattr(log, "apart", ahead)
        pieces = Windows(log, tool.scanner).pieces()
        first = next(pieces)
        assert ahead.wanted[-1] == RAISED
        assert [first, *pieces] == plain


@pytest.mark.parametrize("claims", [1, 2, 7])
def test_claims_of_several_blocks(
    tool: Diagnoser, begun: Callable[[bytes, int], Source], monkeypatch: pytest.MonkeyPatch, claims: int
) -> None:
    monkeypatch.setattr(apart, "CLAIMS", claims)
    source = begun(METRIC * 30_000 + FAILURE + METRIC * 30_000, 2)
    assert source.path is not None
    (plain,) = from_path(source.path)
    assert list(read(source, 0, tool.scanner)) == list(read(plain, 0, tool.scanner))


@pytest.mark.parametrize("after", [0.0, 0.02, 0.1])
def test_a_process_that_is_killed_takes_nothing_with_it(
    tool: Diagnoser, begun: Callable[[bytes, int], Source], after: float
) -> None:
    source = begun(METRIC * 60_000 + FAILURE + METRIC * 60_000, 2)
    assert source.path is not None
    (plain,) = from_path(source.path)
    time.sleep(after)  # whatever the process is at by then
    for child in processes_of(source):
        os.kill(child, signal.SIGKILL)
    assert list(read(source, 0, tool.scanner)) == list(read(plain, 0, tool.scanner))


def test_a_process_that_cannot_read_leaves_it_to_this_one(
    tool: Diagnoser, begun: Callable[[bytes, int], Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = os.getpid()
    load = Block.load

    def fails_elsewhere(block: Block, buffer: bytearray) -> bytearray:
        if os.getpid() != here:
            raise OSError("a disk that went away")
        return load(block, buffer)

    monkeypatch.setattr(Block, "load", fails_elsewhere)
    source = begun(METRIC * 60_000 + FAILURE, 2)
    assert source.path is not None
    (plain,) = from_path(source.path)
    assert list(read(source, 0, tool.scanner)) == list(read(plain, 0, tool.scanner))


def test_a_search_begun_ahead_that_nobody_wants_leaves_no_process_behind(begun: Callable[[bytes, int], Source]) -> None:
    source = begun(METRIC * 100_000, 2)
    children = processes_of(source)
    assert len(children) == 2
    source.leave()
    assert not any(map(is_there, children))


def test_a_second_process_that_cannot_be_made_ends_the_first(
    tool: Diagnoser, large: Callable[[bytes], Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = large(METRIC * 100_000)
    made: list[int] = []
    fork = os.fork

    def once() -> int:
        if made:
            raise BlockingIOError("no more processes")
        child = fork()
        made.append(child)
        return child

    monkeypatch.setattr(os, "fork", once)
    assert not source.begin(everything(tool), 2)
    assert made
    assert not is_there(made[0])


def test_a_search_left_half_way_leaves_no_process_behind(tool: Diagnoser, begun: Callable[[bytes, int], Source]) -> None:
    source = begun(METRIC * 100_000, 2)
    children = processes_of(source)
    reading = read(source, 0, tool.scanner)
    next(reading)
    assert isinstance(reading, Generator)
    reading.close()
    assert not any(map(is_there, children))


def test_nothing_is_begun_ahead_beside_another_thread(
    tool: Diagnoser, large: Callable[[bytes], Source]
) -> None:
    """A process forked while a thread holds a lock would wait for it for good."""
    source = large(METRIC * 20_000)
    release = threading.Event()
    other = threading.Thread(target=release.wait)
    other.start()
    try:
        assert not source.begin(everything(tool), 2)
    finally:
        release.set()
        other.join()


@pytest.mark.parametrize("name", ["short.log", "large.log.gz", "gone.log", "utf16.log"])
def test_nothing_is_begun_ahead_where_the_file_is_not_read_in_place(
    tool: Diagnoser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sources, "LARGE", BLOCK)
    path = tmp_path / name
    whole = (METRIC * (100 if name == "short.log" else 20_000)).decode()
    path.write_bytes(
        gzip.compress(whole.encode())
        if name.endswith(".gz")
        else whole.encode("utf-16" if name == "utf16.log" else "utf-8")
    )
    (source,) = from_path(path)
    if name == "gone.log":
        path.unlink()
    assert not source.begin(everything(tool), 2)
    if name != "gone.log":
        assert next(iter(read(source, 0, tool.scanner))).text == METRIC[:-1].decode()


def test_a_file_that_becomes_shorter_while_it_is_read(tool: Diagnoser, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(METRIC * 40_000)
    (source,) = from_path(path)
    with source.log() as log:
        path.write_bytes(METRIC * 9_000)  # a log that is rotated
        pieces = list(Windows(log, tool.scanner, 1).pieces())
    assert pieces
    assert all(set(piece.split(b"\n")) <= {METRIC[:-1], b""} for _, piece in pieces)


def test_a_file_that_is_gone_is_a_clear_error(tmp_path: Path) -> None:
    source = Source("gone.log", lambda: iter(()), path=tmp_path / "gone.log")
    with pytest.raises(Unreadable, match=r"gone\.log: cannot be read"), source.log():
        pass


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
    """Also where every other line holds an error word: then the block is searched for all literals."""
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


def test_a_reader_that_leaves_early_leaves_no_thread_behind(tool: Diagnoser, tmp_path: Path) -> None:
    """Its file is closed next: a thread that still read from the descriptor would read another file's bytes."""
    path = tmp_path / "train.log"
    path.write_bytes(METRIC * 400_000)
    (source,) = from_path(path)
    with source.log() as log:
        pieces = Windows(log, tool.scanner, 2).pieces()
        assert isinstance(pieces, Generator)
        next(pieces)
        pieces.close()
        assert survey_threads() == []


def test_two_searches_at_once_leave_the_switch_interval_as_it_was(tmp_path: Path) -> None:
    before = sys.getswitchinterval()
    scanner = Scanner([Segment(1, lambda: ["needle in the log"])])
    path = tmp_path / "large.log"
    path.write_bytes(b"a line of a log that says nothing\n" * 60_000)
    first, second = (read(from_path(path)[0], 0, scanner, helpers=1) for _ in range(2))
    for _ in range(1000):  # both have begun to search
        next(first)
        next(second)
    assert sys.getswitchinterval() < before
    for reading in (first, second):
        assert sum(1 for _ in reading)
    assert sys.getswitchinterval() == before
