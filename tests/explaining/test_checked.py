"""A suggestion is shown first only where it certainly keeps the condition from holding; what the message says comes before it."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.explaining.place.conditions import Formula, formula
from troubleshooter.explaining.place.holding import holds
from troubleshooter.explaining.remedy import UNKNOWN, Instance, choices, literal, nearest
from troubleshooter.report.model import Report

Explained = Callable[..., Report]


@pytest.mark.parametrize(
    ("condition", "known", "expected"),
    [
        ("x > 3", {"x": 4}, True),
        ("x > 3", {"x": 3}, False),
        ("x > 3", {}, None),
        ("x is None", {"x": Instance()}, False),
        ("x is not None and y", {"x": None}, False),
        ("x is None or y", {"x": Instance()}, None),
        ("isinstance(x, float) and x <= 0", {"x": 1}, False),
        ("isinstance(x, Plan)", {"x": Instance("Plan")}, True),
        ("isinstance(x, Mapping)", {"x": {"a": 1}}, None),
        ("steps % group != 0", {"steps": 6, "group": 4}, True),
        ("any(one != 1 for one in x)", {"x": [1, 1]}, False),
        ("a.issubset(b)", {"a": [1], "b": [1, 2]}, True),
        ("name.startswith('.')", {"name": "a"}, False),
        ("len(x) == 0", {"x": []}, True),
        ("x / 0 > 1", {"x": 1}, None),
        ("f(x)", {"x": 1}, None),
    ],
)
def test_what_is_known_tells_whether_a_condition_holds(condition: str, known: dict[str, object], expected: bool | None):
    what = formula(condition, True)
    assert what is not None
    assert holds(what, lambda node: known.get(ast.unparse(node), UNKNOWN)) is expected


def test_the_suggested_number_has_the_type_that_the_condition_asks_for(explained: Explained):
    report = explained(
        "g.warm(heat=0)", [("strictly positive", "warm")], "ValueError: heat (=0) has to be a strictly positive float"
    )
    assert codes(report)[0] == "heat=1.0"


def test_a_value_that_leaves_the_condition_true_is_not_suggested(explained: Explained):
    """Setting it to 3 would satisfy one half of the condition; for a share that is no integer nothing is certain."""
    report = explained("g.cut(share=1.5)", [("cannot be cut", "cut")], "ValueError: a share of 1.5 cannot be cut")
    assert not any(code in ("share=0", "share=4", "share=1", "share=1.0") for code in codes(report))
    assert report.explained[0]["condition"]


def test_a_check_that_found_something_is_not_to_be_switched_off(explained: Explained):
    report = explained(
        "g.merge(weights, safe=True)", [("weights are broken", "merge")], "ValueError: the weights are broken"
    )
    assert "safe=False" not in codes(report)


def test_what_was_caught_is_not_repaired_by_the_conditions_around_it(explained: Explained):
    report = explained("g.fetch(name)", [("could not be fetched", "fetch")], "ValueError: it could not be fetched")
    assert not codes(report)


def test_what_the_message_calls_deprecated_is_left_out_first(explained: Explained):
    report = explained(
        "g.both(new=a, old=b)", [("is deprecated", "both")], "ValueError: Pass only `new_form`; `old` is deprecated"
    )
    assert codes(report)[0] == "old=None"


def test_a_command_of_the_message_comes_first(explained: Explained):
    text = "No board is available. To install it run `pip install boards[all]`"
    report = explained("g.log_to(board=b)", [("No board is available", "log_to")], f"ValueError: {text}")
    assert codes(report)[0] == "pip install boards[all]"


def test_an_optional_argument_of_another_class_is_given_as_the_right_one_and_not_left_out(explained: Explained):
    report = explained("g.optional(plan=3)", [("a plan it must be", "optional")], "ValueError: a plan it must be")
    assert codes(report) == ["plan=Plan(...)"]


def test_an_argument_is_left_out_where_the_message_speaks_against_it(explained: Explained):
    text = "packing cannot be used with a plan"
    report = explained("g.exclude(plan=3)", [("cannot be used with", "exclude")], f"ValueError: {text}")
    assert codes(report)[0] == "plan=None"


def test_an_item_of_an_argument_is_not_the_argument(explained: Explained):
    report = explained(
        "g.columns(names=['a', 'a'])", [("twice the column", "columns")], "ValueError: twice the column a"
    )
    assert "names=..." not in codes(report)
    assert "names" in {one["name"] for one in report.explained[0]["arguments"]}


def test_of_two_that_belong_together_the_missing_one_is_given_or_the_other_left_out(explained: Explained):
    report = explained("g.either(low=1)", [("both or none", "either")], "ValueError: both or none of them")
    assert {"high=...", "low=None"} <= set(codes(report))


def test_where_several_allowed_values_may_be_meant_all_are_named(explained: Explained):
    report = explained("g.pick(speed='slow')", [("no such speed", "pick")], "ValueError: no such speed: slow")
    [first, *_] = report.explained[0]["suggestions"]
    assert first["code"] == "speed=..."
    assert "'slow_a'" in first["do"]
    assert "'slow_b'" in first["do"]


def test_the_value_that_was_meant_is_clear_or_not_told():
    assert nearest("causal", ["SEQ_CLS", "CAUSAL_LM"]) == "CAUSAL_LM"
    assert nearest("MXFP4", ["mxfp4", "nvfp4"]) == "mxfp4"
    assert nearest("adam", ["adamw_torch", "adamw_8bit", "sgd"]) is UNKNOWN
    assert nearest("torch", ["pt", "np"]) is UNKNOWN
    assert choices("adam", [f"x{n}" for n in range(20)] + ["adamw"]).startswith("'adamw'")
    assert literal("f(1)") is UNKNOWN


def test_a_condition_of_several_parts_is_a_formula():
    assert isinstance(formula("(a is None) != (b is None)", True), Formula)
