"""Messages that ask for a release of a package."""

from __future__ import annotations

import pytest

from troubleshooter import diagnose


@pytest.mark.parametrize(
    ("message", "command", "installed"),
    [
        ("Gadget-VL model requires transformers>=4.58.0", 'pip install "transformers>=4.58.0"', None),
        ("Gadgets need `accelerate` >= 1.2.0 but found 0.34.2", 'pip install "accelerate>=1.2.0"', "0.34.2"),
        ("bitsandbytes==0.43.1 is required for gadgets, installed: 0.41.0.", 'pip install "bitsandbytes==0.43.1"', "0.41.0"),
    ],
)  # fmt: skip
def test_the_release_is_told_with_the_command(message: str, command: str, installed: str | None):
    [explained] = diagnose(f"ImportError: {message}\n").explained
    assert [one["code"] for one in explained["suggestions"]] == [command]
    assert explained["suggestions"][0]["basis"] == "message"
    assert [one["value"] for one in explained["arguments"]] == ([installed] if installed else [])


@pytest.mark.parametrize(
    "message",
    [
        "gadget_rate must be >= 1.5",  # no package
        "the gadgets were built against transformers>=4.58.0",  # asks for nothing
        "Gadgets need Python>=3.10",  # which pip does not install
    ],
)
def test_a_number_that_is_no_release_asked_for_is_left_alone(message: str):
    assert not any("pip install" in str(one["suggestions"]) for one in diagnose(f"ValueError: {message}\n").explained)


def test_in_chinese():
    [explained] = diagnose("ImportError: Gadget requires peft>=0.15.0\n", lang="zh").explained
    assert "代码要求" in explained["condition"]
