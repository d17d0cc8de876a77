"""A printed message against a template."""

from __future__ import annotations

import pytest

from kb.index.fit import Fit, fit, plain


@pytest.mark.parametrize(
    ("message", "literals", "extent", "values"),
    [
        ("a is 3 of 4", ("a is ", None, " of ", None), "whole", ("3", "4")),
        ("x is bad", (None, " is bad"), "whole", ("x",)),
        ("a b", ("a b",), "whole", ()),
        ("is is bad is bad", (None, " is bad"), "whole", ("is is bad",)),
        (">> a is 3", ("a is ", None), "inside", ("3",)),
        ("a is 3! And more", ("a is ", None, "!"), "inside", ("3",)),
        ("first line", ("first line\nsecond ", None), "beginning", (None,)),
        ("a is 3, so it is", ("a is ", None, ", so it is not ", None, "."), "beginning", ("3", None)),
        ("a is 3", ("a is ", None, ", which is too much"), "beginning", ("3",)),
        ("  two\n  lines ", ("two lines",), "whole", ()),
    ],
)
def test_message_fits(message: str, literals: tuple[str | None, ...], extent: str, values: tuple[str | None, ...]) -> None:
    found = fit(plain(message), literals)
    assert found is not None
    assert (found.extent, found.values) == (extent, values)


@pytest.mark.parametrize(
    ("message", "literals"),
    [("a was 3", ("a is ", None)), ("", ("a",)), ("3", (None,)), ("x", (None, " is bad"))],
)
def test_message_does_not_fit(message: str, literals: tuple[str | None, ...]) -> None:
    assert fit(plain(message), literals) is None


def test_quality_counts_the_literal_characters_that_agree() -> None:
    assert fit("ab cd 3 ef", ("ab cd ", None, " ef")) == Fit(6, "whole", ("3",))


def test_long_repetitive_text_takes_linear_work() -> None:
    # Quadratic or worse would not end: two million characters against a template of many holes.
    text = "a " * 1_000_000
    literals = [piece for _ in range(200) for piece in ("a ", None)]
    assert fit(text, [*literals, "b"]) is not None
