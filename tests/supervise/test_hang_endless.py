"""An endless loop inside of an installed package is told with its package and function. Much that is well looks like it, and is not told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.supervise.test_hang import C10D, GONE
from tests.supervise.test_hang_patience import Ranks
from troubleshooter.hang.busy import LOOP_PATIENCE
from troubleshooter.hang.endless import package_loop
from troubleshooter.hang.notice import MAKES_MB, verdict_on
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.hang.tell import as_dict, lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

STREAMS = """\
import itertools
def rows(source, wanted):
    for row in repeated(source, wanted):  # asks-for-one
        yield row
def repeated(source, wanted):
    while True:
        for row in source:  # inner
            if wanted(row):  # wanted
                yield row
def counted(source):
    for at in itertools.count():
        source.seek(at)  # counts
def finite(source):
    for row in source:
        row.clean()  # cleans
def helper(row):
    return row.clean()  # helps
def once(source):
    return source.clean()  # once
"""
TRAIN = """\
import itertools
import torch.distributed as dist
def train(batches):
    for batch in batches:  # next-batch
        dist.all_reduce(batch)  # reduce
def first(batches):
    return next(iter(batches))  # first
def measure(batches):
    for batch in batches:  # measures
        score(batch)
def prepare(batches):
    return list(map(clean, batches))  # prepares
def score(batches):
    return [clean(batch) for batch in batches]  # scores
train(streams.rows(source, wanted))  # main
if rank == 0:
    first(batches)  # main-first
    measure(batches)  # main-measure
    prepare(batches)  # main-prepare
    score(batches)  # main-score
dist.barrier()  # main-barrier
def wanted(row):
    return row.language == "de"  # own
"""


class Files:
    """The run's script and a package that is installed beside it. Places are named by the marks at the ends of their lines."""

    def __init__(self, folder: Path, package: str = "streams") -> None:
        installed = folder / "site-packages" / package
        installed.mkdir(parents=True)
        self.texts = {str(installed / "rows.py"): STREAMS, str(folder / "train.py"): TRAIN}
        for path, text in self.texts.items():
            Path(path).write_text(text)

    def stack(self, *marks: str) -> Stack:
        """Frames at these marks ``function/mark``, the outermost first."""
        return tuple(reversed([self.frame(*mark.split("/")) for mark in marks]))

    def frame(self, function: str, mark: str) -> StackFrame:
        for path, text in self.texts.items():
            for number, line in enumerate(text.splitlines(), 1):
                if line.endswith(f"# {mark}"):
                    return StackFrame(path, number, function)
        raise KeyError(mark)

    def others(self) -> list[Stack]:
        """A rank that waits in the usual loop for its batch."""
        return [(StackFrame(C10D, 9, "all_reduce"), *self.stack("<module>/main", "train/reduce"))]

    def at_barrier(self) -> list[Stack]:
        return [(StackFrame(C10D, 9, "barrier"), *self.stack("<module>/main-barrier"))]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


ASKS = ("<module>/main", "train/next-batch", "rows/asks-for-one")
FIRST = ("<module>/main-first", "first/first")


def test_a_stream_that_gives_no_row_never_leaves_its_loop(files: Files) -> None:
    """The loop of the training is one in which the other rank is, too, and that of `rows` hands on each row."""
    stacks = [files.stack(*ASKS, "repeated/inner"), files.stack(*ASKS, "repeated/wanted", "wanted/own"), files.stack(*ASKS, "repeated/wanted")]
    found = package_loop(stacks, files.others())
    assert found is not None
    assert (found.package, found.frame.function, found.first_line, found.looks) == ("streams", "repeated", 6, 3)


def test_a_loop_over_what_never_ends_and_one_of_a_single_call(files: Files) -> None:
    found = package_loop([files.stack(*FIRST, "counted/counts")] * 2, files.at_barrier())
    assert found is not None
    assert (found.frame.function, found.first_line) == ("counted", 11)


@pytest.mark.parametrize(
    "stacks",
    [
        [(*FIRST, "finite/cleans")],  # it goes over something that ends
        [("<module>/main-measure", "measure/measures", "repeated/inner")],  # a loop of the run, in which this rank alone is, may go on
        [("<module>/main-prepare", "prepare/prepares", "repeated/inner")],  # so may a call into C that goes over many
        [("<module>/main-score", "score/scores", "repeated/inner")],
        [(*FIRST, "finite/cleans", "repeated/inner")],  # and a loop of the package around it
        [(*FIRST, "repeated/inner"), (*FIRST, "counted/counts")],  # it left the loop
        [(*FIRST, "repeated/inner"), ("<module>/main-measure", "measure/measures")],
        [(*FIRST, "once/once")],
        [FIRST],
    ],
)
def test_what_may_end_is_no_endless_loop(files: Files, stacks: list[tuple[str, ...]]) -> None:
    assert package_loop([files.stack(*marks) for marks in stacks], files.at_barrier()) is None


def test_nobody_waits_for_it(files: Files) -> None:
    assert package_loop([files.stack(*FIRST, "counted/counts")], []) is None


@pytest.mark.parametrize("package", ["torch", "vllm", "numpy"])
def test_the_loops_of_a_library_that_computes_are_the_work(tmp_path: Path, package: str) -> None:
    files = Files(tmp_path, package)
    assert package_loop([files.stack(*FIRST, "counted/counts")], files.at_barrier()) is None


def test_a_loop_that_calls_another_package_may_be_work(files: Files) -> None:
    """An evaluation, a generation of tokens."""
    inside = (StackFrame("/env/lib/python3.11/site-packages/torch/nn/functional.py", 9, "linear"), *files.stack(*FIRST, "repeated/wanted"))
    assert package_loop([files.stack(*FIRST, "repeated/wanted"), inside], files.at_barrier()) is None
    library = (StackFrame("/usr/lib/python3.11/json/decoder.py", 9, "decode"), *files.stack(*FIRST, "repeated/wanted"))
    assert package_loop([library], files.at_barrier()) is not None


class Asked(Ranks):
    """Looks whose further questions find the second rank there."""

    later: Stack = ()

    def further_stacks(self, pid: int) -> list[Stack]:
        assert pid == GONE + 1
        return [self.later] * 5


def test_the_rank_is_told_with_its_loop(files: Files) -> None:
    inside = files.stack(*ASKS, "repeated/inner")
    looks = [Asked(at, ("S", files.others()[0]), ("R", inside)) for at in (0, 10, 20)]
    looks[-1].later = inside
    past, before, now = looks
    assert verdict_on(before, now, patience=LOOP_PATIENCE, past=[past]) is None
    verdict = verdict_on(before, now, patience=LOOP_PATIENCE + 0.1, past=[past])
    assert verdict is not None
    assert (verdict.cause, [one.rank.number for one in verdict.late]) == ("computing", [1])
    (loop,) = verdict.loops
    assert (loop.rank, loop.looks) == (1, 8)
    said = "\n".join(lines(verdict, "en"))
    assert "rank 1 never leaves a loop of the package streams: repeated, " in said
    assert "rows.py:6. All 8 stacks" in said
    (written,) = as_dict(verdict)["loops"]
    assert {key: written[key] for key in ("rank", "package", "function", "line", "looks")} == {
        "rank": 1, "package": "streams", "function": "repeated", "line": 6, "looks": 8,
    }  # fmt: skip
    now.later = files.stack(*ASKS)
    assert verdict_on(before, now, patience=LOOP_PATIENCE + 0.1, past=[past]) is None


def test_a_loop_in_which_memory_grows_makes_something(files: Files) -> None:
    inside = files.stack(*ASKS, "repeated/inner")
    before, now = (Asked(at, ("S", files.others()[0]), ("R", inside)) for at in (0, 10))
    now.later = inside
    assert verdict_on(before, now, patience=100.0) is not None
    now.processes = [one._replace(rss_mb=one.rss_mb + MAKES_MB + 0.1) for one in now.processes]
    assert verdict_on(before, now, patience=100.0) is None


def test_a_loop_that_only_an_earlier_look_was_not_in(files: Files) -> None:
    inside = files.stack(*ASKS, "repeated/inner")
    looks = [Asked(at, ("S", files.others()[0]), ("R", stack)) for at, stack in ((0, files.stack(*ASKS)), (10, inside), (20, inside))]
    looks[-1].later = inside
    past, before, now = looks
    assert verdict_on(before, now, patience=100.0, past=[past]) is None


@pytest.mark.parametrize(("usual", "told"), [(1.9, True), (2.1, False)])
def test_what_the_rank_did_before_it_came_to_the_loop_does_not_count(files: Files, usual: float, told: bool) -> None:
    """The silence began with an import. Since then the rank must have been in the loop for long enough."""
    inside = files.stack(*ASKS, "repeated/inner")
    outermost = inside[-1]
    imports = (StackFrame("<frozen importlib._bootstrap>", 9, "_find_and_load"), outermost._replace(line=outermost.line - 1))
    looks = [Asked(at, ("S", files.others()[0]), ("R", stack)) for at, stack in ((0, imports), (10, inside), (20, inside))]
    looks[-1].later = inside
    past, before, now = looks
    verdict = verdict_on(before, now, patience=100.0, past=[past], usual=usual)
    assert (verdict is not None and bool(verdict.loops)) == told




@pytest.mark.parametrize("later", ["in the loop", "in torch"])
def test_two_looks_between_two_calls_of_a_model_are_no_loop_of_the_run(files: Files, later: str) -> None:
    """An evaluation that is in its own frame at both looks is in torch at some of many."""
    own = files.stack("<module>/main-measure", "measure/measures")
    inside = (StackFrame("/env/lib/python3.11/site-packages/torch/nn/functional.py", 9, "linear"), *own)
    before, now = (Asked(at, ("S", files.at_barrier()[0]), ("R", own)) for at in (0, 10))
    now.later = inside if later == "in torch" else own
    verdict = verdict_on(before, now, patience=100.0)
    assert (None if verdict is None else verdict.cause) == (None if later == "in torch" else "computing")
