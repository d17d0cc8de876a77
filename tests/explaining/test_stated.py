"""What a message states of one argument that the user's own call passes."""

from __future__ import annotations

import pytest

from troubleshooter.explaining.message import advice
from troubleshooter.explaining.message.stated import stated
from troubleshooter.pipeline import Diagnoser

PASSED = {"stride": "self.hop", "max_length": "64", "gather_list": "buffers", "attn_mask": "mask", "size": "8"}


@pytest.mark.parametrize(
    ("message", "code", "value"),
    [
        ("`stride` must be strictly less than `max_len=64` (note that `max_len` may be shorter", "stride=...", "stride < 64"),
        ("size should be greater than or equal to least=16", "size=...", "size >= 16"),
        ("assisted generate is only supported for batch_size = 1", "batch_size=1", "1"),
        ("This is only implemented with `mode='fast'`", "mode='fast'", "'fast'"),
        ("Argument ``gather_list`` must NOT be specified on non-destination ranks.", "gather_list=None", "on non-destination ranks"),
        ("The shape of the 3D attn_mask is torch.Size([3, 10, 10]), but should be (12, 10, 10).", "mask.repeat_interleave(4, dim=0)", None),
        ("The shape of the 2D attn_mask is torch.Size([3, 10]), but should be (10, 10).", "attn_mask=...", "(10, 10)"),
        ("The shape of the 3D attn_mask is torch.Size([5, 10, 10]), but should be (12, 10, 10).", "attn_mask=...", "(12, 10, 10)"),
    ],
)  # fmt: skip
def test_what_a_message_states(message: str, code: str, value: str | None):
    [found] = stated(message, PASSED)
    assert found.code == code
    assert dict(found.values).get("y") == value


@pytest.mark.parametrize(
    "message",
    [
        "`window` must be less than `max_len=64`",  # nobody passed it
        "only supported for the new API",
        "`other` must not be specified on rank 1",
        "The shape of the mask is (3, 10), and should be",
    ],
)
def test_of_what_was_not_passed_nothing_is_said(message: str):
    assert list(stated(message, PASSED)) == []


@pytest.mark.parametrize(
    "before", ["must be strictly less than", "must not be more than", "should not exceed", "should be equal to"]
)
def test_what_something_is_compared_with_is_no_setting(before: str):
    assert list(advice.settings(f"`stride` {before} `max_len=64`", {})) == []


def test_a_setting_that_only_tells_more_is_no_suggestion():
    assert list(advice.settings('For more information set TORCH_LOGS="+dynamic"', {})) == []
    assert [one.code for one in advice.settings('Please set TRITON_MODE="fast"', {})] == ['TRITON_MODE="fast"']


def test_what_a_message_suggests_as_code():
    message = "Constraints violated (length)!\nSuggested fixes:\n  length = Dim('length', max=64)\nmore"
    assert [one.code for one in advice.commands(message)] == ["length = Dim('length', max=64)"]


def test_what_has_to_be_given_too():
    message = (
        "Cannot convert target(s) up_proj without also targeting gate_proj because they are fused into gate_up_proj."
    )
    found = Diagnoser.of([]).diagnose(f"ValueError: {message}\n").explained[0]
    assert [one["name"] for one in found["arguments"]] == ["gate_proj"]
    assert found["arguments"][0]["why"] == "the message is about it"
    assert found["suggestions"][0]["do"] == "Give `gate_proj`, too"


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Passing `eval_results` requires `model_name` to be set.", ["model_name"]),
        ("This option requires the 'cache_dir' argument to be provided", ["cache_dir"]),
        ("`eval_results` requires a list of results", []),
        ("requires `size` to be set", []),  # it was passed: its value is wrong, or something else is
    ],
)
def test_what_an_argument_needs_beside_it(message: str, names: list[str]) -> None:
    assert [one.subject for one in stated(message, {"size": "3"})] == names
