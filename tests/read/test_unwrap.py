"""Lines that a terminal broke at its width, and lines of equal width that nobody broke."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.samples import below
from troubleshooter.observe.model import Failure
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.read.stream import read
from troubleshooter.read.unwrap import MAX_JOINED_BYTES, detect_width, rejoin_wrapped

ROOT = Path(__file__).parents[2]
TRACEBACK = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/someone/projects/finetuning/train.py", line 58, in <module>
[rank0]:     main()
[rank0]:   File "/opt/conda/envs/training/lib/python3.11/site-packages/accelerate/utils/operations.py", line 778, in _convert_to_fp32
[rank0]:     return tensor.float()
[rank0]: RuntimeError: The size of tensor a (32768) must match the size of tensor b (16384) at non-singleton dimension 3
[rank0]: wandb: You can sync this run to the cloud by running: wandb sync /home/someone/projects/finetuning/wandb/offline-run-1
"""


def broken(text: str, columns: int, end: str = "\n") -> str:
    parts = (line[i : i + columns] for line in text.splitlines() for i in range(0, max(len(line), 1), columns))
    return "".join(part + end for part in parts)


def printed(failure: Failure) -> object:
    return failure.exception, failure.message, [(frame.file, frame.line, frame.function) for frame in failure.frames]


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_broken_traceback_is_read_as_it_was_printed(tool: Diagnoser, columns: int, end: str) -> None:
    whole = tool.observe([from_text(TRACEBACK)]).failures
    seen = tool.observe([from_text(broken(TRACEBACK, columns, end))]).failures
    assert [printed(failure) for failure in seen] == [printed(failure) for failure in whole]
    assert seen[0].ranks == {0}


def test_numbers_are_those_of_the_broken_lines(tool: Diagnoser) -> None:
    text = broken(TRACEBACK, 80)
    (failure,) = tool.observe([from_text(text)]).failures
    assert text.splitlines()[failure.line.number - 1].startswith("[rank0]: RuntimeError")


@pytest.mark.parametrize(
    "row",
    [
        lambda n: f"step:{n} - actor/pg_loss:0.0{n} - actor/grad_norm:0.1{n} - critic/score/mean:0.0 - tokens:1{n}0",
        lambda n: f"| {n}  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    {n} |",
        lambda n: "=" * 60 if n % 2 else f"{'-' * 59}{n}",
        lambda n: f"{n} 0.6931 0.1{n}23 0.0002 0.1{n}23 0.6931 0.1{n}23 0.0002 0.1{n}23",
        lambda n: f"2025-01-01 10:00:0{n} INFO worker {n} took {n}.25 s for its part of the shards",
    ],
)
def test_rows_of_equal_width_are_not_rejoin_wrapped(tool: Diagnoser, row: Callable[[int], str]) -> None:
    lines = [row(n) for n in range(1, 9)]
    assert [line.text for line in read(from_text("\n".join(lines)), 0, tool.scanner)] == [
        line.text for line in read(from_text("\n\n".join(lines)), 0, tool.scanner) if line.text
    ]


def test_a_file_of_full_lines_does_not_become_one() -> None:
    pick = random.Random(3)
    rows = [bytes(pick.choices(b"abcdefghijkQRSTUV0123456789", k=76)) for _ in range(3000)]
    columns = detect_width(b"\n".join(rows))
    assert columns == 76
    parts = list(rejoin_wrapped(enumerate(rows, 1), columns))
    assert max(len(line) for _, line in parts) < MAX_JOINED_BYTES + columns
    assert b"".join(line for _, line in parts) == b"".join(rows)


def test_no_log_of_ours_is_taken_for_broken_that_was_not() -> None:
    logs = [path.read_bytes() for path in sorted((ROOT / "tests" / "healthy").rglob("*.log"))]
    logs += [sample.text.encode() for _, sample in below(ROOT / "entries", "match")]
    taken = [log for log in logs if detect_width(log[: 64 * 1024])]
    assert len(taken) <= len(logs) / 500, taken


def test_first_answers_outlive_a_narrow_terminal(tool: Diagnoser) -> None:
    """This is tried on logs that are long enough to show where they were broken."""
    samples = [sample.text for _, sample in below(ROOT / "entries", "match") if sample.text.count("\n") > 8]
    same = asked = 0
    for text in random.Random(5).sample(samples, 120):
        before = tool.report([from_text(text)]).diagnoses
        after = tool.report([from_text(broken(text, 80))]).diagnoses
        asked += 1
        same += [d.id for d in before][:1] == [d.id for d in after][:1]
    assert same >= 0.95 * asked
