"""What a person asks for is found: words of a title, a pasted message, words spelled or bent otherwise, Chinese."""

from __future__ import annotations

import pytest

from kb.search import search, words
from troubleshooter.pipeline import Diagnoser


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("nccl timeout", "nccl-watchdog-timeout"),
        ("ValueError: Attempting to unscale FP16 gradients.", "amp-unscale-fp16-gradients"),
        ("RuntimeError: expected scalar type Half but found Float", "matmul-dtype-mismatch"),
        ("element 0 of tensors does not require grad and does not have a grad_fn", "nothing-in-the-graph"),
        ("bitsandbytes windows", "bnb-windows-unsupported"),
        ("gradiant nan resum", "grad-norm-turns-nan"),  # spelled otherwise
        ("merging adapter memory", "oom-merging-adapter"),
        ("合并 显存不足", "oom-merging-adapter"),
    ],
)
def test_what_is_asked_for_is_among_the_first(tool: Diagnoser, asked: str, wanted: str) -> None:
    assert wanted in [body["id"] for _, body in search(tool.knowledge, asked, limit=4)]


def test_the_points_fall_and_end_at_a_hundred(tool: Diagnoser) -> None:
    points = [score for score, _ in search(tool.knowledge, "flash attention not installed", limit=50)]
    assert points == sorted(points, reverse=True)
    assert 35 <= points[-1] < points[0] <= 100


@pytest.mark.parametrize("asked", ["qqxzzvk wwqjjx", "the of and", "", "??"])
def test_what_nothing_is_like_finds_nothing(tool: Diagnoser, asked: str) -> None:
    assert search(tool.knowledge, asked) == []


def test_names_count_whole_and_in_parts_and_chinese_in_pairs() -> None:
    assert words("set torch.backends.cudnn to a 4090") == {
        "set", "torch.backends.cudnn", "torch", "backends", "cudnn", "4090",
    }  # fmt: skip
    assert words("显存不足") == {"显存", "存不", "不足"}
