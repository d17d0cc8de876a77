"""A suggestion is made only where the log ties it to what the user sets, and takes away only what the message speaks against."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.explaining.message.advice import commands, settings, wanted
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.place.conditions import Formula, formula
from troubleshooter.explaining.place.meant import meant, takes_away
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.report.model import Report


def leave_out(name: str, part: ast.expr | None = None) -> Remedy:
    return Remedy("do-leave", (("x", name),), f"{name}=None", part=part)


def kept(remedy: Remedy, condition: str, message: str, **known: Origin) -> bool:
    """Whether a suggestion stays. ``known``: the origins of names; the others are arguments that the call does not show."""

    def origins(node: ast.expr) -> list[Origin]:
        names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
        return [known.get(name, Origin(name, "argument", default="None")) for name in names]

    what = formula(condition, True)
    assert what is not None
    return bool(meant([remedy], Formula("and", (what,)), message, origins))


@pytest.mark.parametrize(
    ("message", "stays"),
    [
        ("`board` is not supported with `packing`", True),
        ("a data board cannot be used with packing", True),
        ("packing needs peft 2; upgrade peft", False),
        ("`board` should be either 'a' or 'b'", False),
        ("You must provide `board`, without it nothing works", False),
    ],
)
def test_what_was_asked_for_goes_only_where_the_message_speaks_against_it(message: str, stays: bool):
    assert (
        kept(leave_out("board"), "board is not None and packing", message, packing=Origin("packing", "option")) is stays
    )


def test_a_parameter_without_a_default_is_not_left_out():
    needed = Origin("board", "argument", annotation="Board")
    assert not kept(leave_out("board"), "board", "`board` is not supported", board=needed)


def test_an_error_of_the_library_itself_has_no_suggestion():
    remedy = Remedy("do-set", (("x", "size"), ("y", "2")), "size=2")
    assert kept(remedy, "size == 1", "bad size")
    assert not kept(remedy, "size == 1", "bad size: this should not happen, please open an issue")


def test_an_argument_that_nothing_shows_is_not_suggested():
    remedy = Remedy("do-pass", (("x", "inner"),), "inner=...")
    message = "the shape cannot be found"
    assert not kept(remedy, "inner is None and shape", message)
    assert kept(remedy, "inner is None and shape", message, inner=Origin("inner", "argument", passed=False))
    assert kept(remedy, "inner is None and shape", "give `inner`")


def test_a_class_has_to_be_one_that_the_message_names():
    remedy = Remedy("do-class", (("x", "data"), ("y", "Frame")), "data=Frame(...)")
    assert kept(remedy, "not isinstance(data, Frame) and data", "`data` has to be a Frame")
    assert not kept(remedy, "not isinstance(data, Frame) and data", "`data` cannot be cast")
    abstract = Remedy("do-class", (("x", "data"), ("y", "Iterable")), "data=Iterable(...)")
    assert not kept(abstract, "data", "`data` has to be an Iterable")


def test_zero_takes_away_only_where_the_condition_asks_whether_the_number_is_there():
    asked = ast.parse("size != 0", mode="eval").body
    bound = ast.parse("size > 0", mode="eval").body
    values = (("x", "size"), ("y", "0"))
    assert takes_away(Remedy("do-set", values, "size=0", part=asked))
    assert not takes_away(Remedy("do-set", values, "size=0", part=bound))


Explained = Callable[..., Report]


def test_a_suggestion_that_another_check_refuses_is_not_made(explained: Explained):
    """Without a load there has to be a limit, and with a limit none is allowed to be 9."""
    report = explained("g.lift(load=9)", [("nine is too much", "lift")], "ValueError: nine is too much for `load`")
    assert "load=None" not in codes(report)


def test_several_allowed_values_are_named_together(explained: Explained):
    report = explained("g.turn(way='back')", [("no such way", "turn")], "ValueError: no such way: back")
    [first, *_] = report.explained[0]["suggestions"]
    assert first["code"] == "way=..."
    assert "'left'" in first["do"]
    assert "'right'" in first["do"]


def test_of_several_parts_about_one_argument_the_last_counts(explained: Explained):
    report = explained(
        "g.group(size=6, count=4)",
        [("size must be a multiple", "group")],
        "ValueError: size must be a multiple of count",
    )
    assert "size=8" in codes(report)
    assert "size=1" not in codes(report)


def test_a_written_bound_is_said_and_no_number_is_made_up(explained: Explained):
    report = explained("g.rank(r=0)", [("r has to be positive", "rank")], "ValueError: r has to be positive")
    [first, *_] = report.explained[0]["suggestions"]
    assert first["code"] == "r=..."
    assert "r > 0" in first["do"]


def test_an_error_in_a_line_of_the_library_names_what_the_line_used(explained: Explained):
    report = explained(
        "g.unknown(label)", [("isinstance(kind, Missing)", "unknown")], "NameError: name 'Missing' is not defined"
    )
    [found] = report.explained
    assert "`Missing`" in found["condition"]
    assert "kind" in {one["name"] for one in found["arguments"]}


def test_instructions_of_a_message_are_told_from_what_it_found():
    assert [one.code for one in settings("Upgrade peft, or load the model with `device_map=None`.", {})] == [
        "device_map=None"
    ]
    assert not [
        *settings("The sum of test_size and train_size = 3, should be in the (0, 1) range. Reduce test_size.", {})
    ]
    assert not [*settings("it must be fully divisible into [r, r] blocks", {})]
    assert [one.code for one in settings("Set the `sync_states` flag to `True`", {})] == ["sync_states=True"]
    assert [one.code for one in commands("Please run `pip install --upgrade gadget` first")] == [
        "pip install --upgrade gadget"
    ]
    assert wanted("At least one of `low` or `high` must be set")["low"]
