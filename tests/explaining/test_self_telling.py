"""Messages that say themselves which value was refused and which ones do."""

from __future__ import annotations

import pytest

from troubleshooter import diagnose
from troubleshooter.explaining.message.self_telling import RULES
from troubleshooter.report.explanation import changes_heading


@pytest.mark.parametrize(
    ("message", "name", "value", "word"),
    [
        ("Invalid gadget backend: None, expected red or blue", "gadget backend", "None", "'red', 'blue'"),
        ("Unsupported gadget kind: bleu. Choose from red, blue", "gadget kind", "bleu", "'blue'"),
        ("gadget_mode must be zeros, reflect or circular but got zero", "gadget_mode", "zero", "'zeros'"),
        ("gadget_mode must be one of [red, blue], got green", "gadget_mode", "green", "'red', 'blue'"),
        ("gadget size must be divisible by mini_size, got 1032 and 512", "gadget size", "1032", "1024 / 1536"),
        ("The gadget size (4097) is not divisible by the number of teeth (32)", "gadget size", "4097", "4096 / 4128"),
        ("gadget size 7 must be divisible by teeth 8", "gadget size", "7", "8"),
        ("num_gadgets should be non-negative, but got -1", "num_gadgets", "-1", "non-negative"),
        ("gadget_rate must be >= 0, got -0.5", "gadget_rate", "-0.5", ">= 0"),
    ],
)
def test_the_name_the_value_and_what_would_do_are_told(message: str, name: str, value: str, word: str):
    [explained] = diagnose(f"ValueError: {message}\n").explained
    [argument] = explained["arguments"]
    assert (argument["name"], argument["value"]) == (name, value)
    [suggestion] = explained["suggestions"]
    assert word in suggestion["do"]
    assert explained["package"] == "" or explained["places"] == 0


@pytest.mark.parametrize(
    "message",
    [
        "Invalid data: something is wrong, use another",
        "gadget size must be divisible by mini_size",  # neither number is shown
        "gadget size 16 must be divisible by teeth 8",  # 16 is: the message speaks of something else
        "gadget_mode must be red, blue or green, got red",  # so is red
        "mode must be a string, got 3",
        "gadgets should be positive",
    ],
)
def test_a_message_that_does_not_tell_them_is_left_alone(message: str):
    answers = [rule(found) for _, pattern, rule in RULES if (found := pattern.search(message)) is not None]
    assert not any(answers)


def test_in_chinese():
    [explained] = diagnose("ValueError: Invalid gadget backend: None, expected red or blue\n", lang="zh").explained
    assert "只接受" in explained["condition"]


def test_a_place_that_only_the_words_name_steps_back_behind_what_the_message_says():
    """Places of several packages print such a message, and without a frame nothing tells which of them did."""
    report = diagnose("ValueError: Unknown gadget type 'bleu'. Available: red, blue, green\n")
    [explained] = report.explained
    assert (explained["package"], explained["file"]) == ("", "")
    assert explained["suggestions"][0]["do"] == "Set `gadget type` to `'blue'`"
    assert "by the words of the message" in changes_heading(explained, "en")
    explained["suggestions"].append({"do": "Pass it", "code": None, "basis": "guard"})
    assert "derived from the code" in changes_heading(explained, "en")
