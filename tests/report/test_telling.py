"""The telling lines of a message: lines below its first one are evidence, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_path, from_text

CAST = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/datasets/table.py", line 2306, in cast_table_to_schema
    raise CastError(
datasets.table.CastError: Couldn't cast
text: string
label: string
n: int64
to
{'text': Value('string'), 'n': Value('int64')}
because column names don't match
"""
SIZES = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 2638, in load_state_dict
    raise RuntimeError(
RuntimeError: Error(s) in loading state_dict for LlamaForCausalLM:
\tsize mismatch for model.embed_tokens.weight: copying a param with shape torch.Size([320, 32]) from checkpoint, the shape in current model is torch.Size([400, 32]).
\tsize mismatch for lm_head.weight: copying a param with shape torch.Size([320, 32]) from checkpoint, the shape in current model is torch.Size([400, 32]).
"""
DEVICE = """RuntimeError: CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""


def lines(tool: Diagnoser, log: str) -> list[int]:
    """The lines that are evidence of the first answer."""
    return [shown.line for shown in tool.report([from_text(log)]).diagnoses[0].evidence]


def test_both_lists_of_columns_are_evidence(tool: Diagnoser) -> None:
    assert lines(tool, CAST) == [4, 5, 6, 7, 8, 9, 10]


def test_the_sizes_that_differ_are_evidence(tool: Diagnoser) -> None:
    assert lines(tool, SIZES) == [4, 5, 6]


def test_of_a_long_list_the_lines_with_the_values_of_the_answer_are_shown(tool: Diagnoser) -> None:
    other = "\tsize mismatch for model.layers.{}.mlp.up.weight: shapes differ.\n"
    head, first, second = SIZES.rpartition("\tsize mismatch for model.embed")[0], *SIZES.splitlines(keepends=True)[-2:]
    log = head + "".join(map(other.format, range(20))) + first + second
    shown = lines(tool, log)
    assert {25, 26} < set(shown)
    assert len(shown) <= 8


def test_what_torch_adds_to_every_error_is_no_evidence(tool: Diagnoser) -> None:
    report = tool.report([from_text(DEVICE)])
    assert report.diagnoses
    assert not any("asynchronously" in e.text or "CUDA_LAUNCH" in e.text for d in report.diagnoses for e in d.evidence)


def test_a_label_out_of_range_is_named(tool: Diagnoser) -> None:
    cause = tool.report([from_text("IndexError: Target 4 is out of bounds.\n")]).diagnoses[0].cause
    assert "the target 4 outside" in cause


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "has 320 rows in the file and 400 in the model"), ("zh", "行数是 320，")]
)
def test_the_numbers_of_rows_are_told_in_a_sentence(tool: Diagnoser, lang: str, said: str) -> None:
    assert said in tool.report([from_text(SIZES)], lang=lang).diagnoses[0].cause


def test_no_rank_failed_first_where_files_have_no_order(tool: Diagnoser, tmp_path: Path) -> None:
    (tmp_path / "job-12_0.out").write_text(
        'Traceback (most recent call last):\n  File "/home/a/train.py", line 3, in <module>\n    step(1)\n'
        "TypeError: step() takes 0 positional arguments but 1 was given\n"
    )
    (tmp_path / "job-12_1.out").write_text(
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error, "
        "NCCL version 2.20.5 ncclSystemError: remote process exited or there was a network error\n"
    )
    report = tool.report(from_path(tmp_path))
    assert report.failures
    first = report.first_failure
    assert first is None or first["rank"] == 0


LOST = (
    "[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/app/train.py\", line 8, in <module>\n[rank{rank}]:     dist.all_reduce(t)\n"
    "[rank{rank}]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error [127.0.0.1]:13446: Connection reset by peer\n"
)
FAILED = "E1129 01:58:12.141000 11379 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: {status}) local_rank: 0 (pid: 11483) of binary: /usr/bin/python\n"


@pytest.mark.parametrize(
    ("status", "said"),
    [(-15, "Rank 0 ended first: it got SIGTERM (line 9); 2 other ranks followed"), (-9, "it got SIGKILL"), (3, "Rank 0 failed first (line 9); 2")],
)
def test_a_rank_that_ended_without_a_word_is_first_where_the_others_only_lost_it(tool: Diagnoser, status: int, said: str) -> None:
    report = tool.report([from_text(LOST.format(rank=1) + LOST.format(rank=2) + FAILED.format(status=status))])
    first = report.first_failure
    assert first is not None
    assert (first["rank"], first["followed"]) == (0, [1, 2])
    assert [one["rank"] for one in first["order"]] == [0, 1, 2]
    assert said in str(report)


def test_a_rank_that_raised_stays_the_first_whatever_the_launcher_says_of_another(tool: Diagnoser) -> None:
    report = tool.report([from_text("[rank1]: KeyError: 'labels'\n" + LOST.format(rank=2) + FAILED.format(status=-15))])
    assert report.first_failure is not None
    assert report.first_failure["rank"] == 1


def test_no_rank_failed_first_where_the_launcher_was_told_to_stop(tool: Diagnoser) -> None:
    stopped = "torch.distributed.elastic.multiprocessing.api.SignalException: Process 29455 got signal: 15\n"
    assert tool.report([from_text(LOST.format(rank=1))]).first_failure is not None
    assert tool.report([from_text(LOST.format(rank=1) + stopped)]).first_failure is None
