"""Conditions that count arguments, ask for a part of one, or collect what is missing."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.place.comparisons import compared
from troubleshooter.explaining.place.conditions import Atom, Formula, formula
from troubleshooter.explaining.place.exclusive import exclusive
from troubleshooter.explaining.place.meant import meant
from troubleshooter.explaining.place.remedies import remedies
from troubleshooter.explaining.place.suggestions import by_message, derived
from troubleshooter.explaining.place.unfolded import unfolded
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.sources import SourceFile
from troubleshooter.report.model import Report


def parsed(condition: str) -> Formula | Atom:
    found = formula(condition, True)
    assert found is not None
    return found


def people(**values: str | None) -> Callable[[ast.expr], list[Origin]]:
    """The origins of names: each an argument that the user's call passes, with this value."""

    def origins(node: ast.expr) -> list[Origin]:
        names = dict.fromkeys(one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one.id in values)
        exact = isinstance(node, ast.Name)
        return [Origin(name, "argument", value=values[name], passed=True, exact=exact) for name in names]

    return origins


def nothing(node: ast.expr) -> object:
    return literal(ast.unparse(node))


@pytest.mark.parametrize(
    ("condition", "key"),
    [
        ("(a is None) == (b is None)", "do-exactly-one"),
        ("sum(x is not None for x in (a, b)) != 1", "do-exactly-one"),
        ("sum(bool(x) for x in [a, b]) > 1", "do-at-most-one"),
        ("sum([a is not None, b is not None]) == 0", "do-at-least-one"),
        ("[a, b].count(None) != 1", "do-exactly-one"),
        ("a is not None and b is not None", None),
        ("(a is None) != (b is None)", None),
        ("sum(x > 1 for x in (a, b)) != 1", None),
        ("sum(lengths) != 1", None),
    ],
)
def test_a_condition_that_counts_names_all_of_them(condition: str, key: str | None):
    found = list(exclusive([parsed(condition)], people(a="1", b="2"), "that is wrong"))
    assert [one.key for one in found] == ([key] if key else [])
    assert all(dict(one.values)["y"] == "`a`, `b`" for one in found)


def test_two_that_exclude_each_other_are_named_together_where_the_message_says_so():
    both = [parsed("a is not None and b is not None")]
    assert [one.key for one in exclusive(both, people(a="1", b="2"), "a is mutually exclusive with b")] == [
        "do-at-most-one"
    ]
    assert not list(exclusive(both, people(a="1", b="2"), "pass only one, `b` is deprecated"))
    assert not list(exclusive([parsed("(a is None) == (b is None)")], people(a="1"), ""))


@pytest.mark.parametrize(
    ("condition", "needed"),
    [
        ("weight.shape != (n,)", "weight.shape == (n,)"),
        ("weight.dim() not in (2, 3)", "weight.dim() in (2, 3)"),
        ("weight.size(-1) != 4", "weight.size(-1) == 4"),
        ("sorted(weight) != sorted(names)", "sorted(weight) == sorted(names)"),
        ("other.shape != weight.shape", "weight.shape == other.shape"),
        ("find(weight) != 3", None),
    ],
)
def test_a_part_of_an_argument_is_told_with_what_it_has_to_be(condition: str, needed: str | None):
    found = compared(*_sides(condition), people(weight="w"), nothing)
    assert [dict(one.values)["y"] for one in found] == ([needed] if needed else [])


def test_an_attribute_that_is_none_is_given_where_its_object_is_made():
    assert [one.code for one in compared(*_sides("trainer.rows is None"), people(trainer="t"), nothing)] == ["rows=..."]
    assert not list(compared(*_sides("other.rows is None"), people(trainer="t"), nothing))


def _sides(condition: str) -> tuple[ast.expr, type[ast.cmpop], ast.expr]:
    node = ast.parse(condition, mode="eval").body
    assert isinstance(node, ast.Compare)
    return node.left, type(node.ops[0]), node.comparators[0]


def test_a_member_of_an_enumeration_is_a_value():
    assert [one.code for one in compared(*_sides("kind != Kind.FAST"), people(kind="'x'"), nothing)] == [
        "kind=Kind.FAST"
    ]
    several = list(compared(*_sides("kind not in (Kind.A, Kind.B)"), people(kind="'x'"), nothing))
    assert dict(several[0].values)["y"] == "Kind.A, Kind.B"
    assert not list(compared(*_sides("kind != Kind.make"), people(kind="'x'"), nothing))


FUNCTION = """
def check(columns, features):
    missing = [c for c in columns if c not in features]
    extra = sorted(set(columns) - set(features))
    long = [c for c in columns if len(c) > 3]
    left = columns - features
    raise ValueError
"""


@pytest.mark.parametrize(
    ("condition", "question"),
    [
        ("missing", "any((c not in features for c in columns))"),
        ("len(missing) > 0", "any((c not in features for c in columns))"),
        ("extra", "any((one not in features for one in columns))"),
        ("set(columns) - set(features)", "any((one not in features for one in columns))"),
        ("long", "long"),
        ("left", "left"),
        ("not missing", "missing"),
    ],
)
def test_what_is_missing_is_told_with_both_lists(tmp_path: Path, condition: str, question: str):
    source = SourceFile(str(tmp_path / "a.py"), "", FUNCTION)
    context = NameContext(source, *source.around(7), 7, None)
    found = unfolded(parsed(condition), context)
    assert isinstance(found, Atom)
    assert ast.unparse(found.expression) == question


def test_a_list_may_hold_only_what_another_has():
    what = parsed("any(c not in features for c in columns)")
    assert [dict(one.values)["y"] for one in remedies(what, people(columns="['a']"), nothing)] == ["`features`"]
    known = remedies(
        what, people(columns="['a']"), lambda node: ["x", "y"] if ast.unparse(node) == "features" else UNKNOWN
    )
    assert [dict(one.values)["y"] for one in known] == ["'x', 'y'"]
    assert not list(remedies(parsed("any(c not in features for c in rows if c)"), people(rows="['a']"), nothing))


def test_each_item_has_to_be_of_a_class():
    def origins(node: ast.expr) -> list[Origin]:
        return [Origin("tensors", "argument", passed=True, exact=False, each=True)]

    what = parsed("not isinstance(v, torch.Tensor)")
    assert [one.key for one in remedies(what, origins, nothing)] == ["do-class-each"]


def test_what_has_to_be_divided_is_told_by_no_other_comparison():
    near = [parsed("not (steps < 1)")]
    around = [parsed("steps % every != 0")]
    values = {"steps": 50, "every": 30}

    def known(node: ast.expr) -> object:
        return values.get(ast.unparse(node), literal(ast.unparse(node)))

    def subject(node: ast.expr) -> str:
        return node.id if isinstance(node, ast.Name) else ""

    found = derived(near, around, "steps must be a multiple of every", people(steps="50", every="30"), known, subject)
    assert [one.code for one in found] == ["every=25", "steps=60"]


def test_another_value_is_told_with_the_range_of_the_message():
    other = Remedy("do-other", (("x", "label_smoothing"), ("y", "0.0")), None)
    found = by_message([other], "Label smoothing must be greater than 0.0 here")[0]
    assert dict(found.values)["y"] == "label_smoothing > 0.0"
    assert by_message([other], "The loss must be greater than 0.0 here") == [other]


def test_a_message_may_call_a_class_by_another_word():
    remedy = Remedy("do-class", (("x", "values"), ("y", "str")), "values=str(1)")
    both = Formula("and", (parsed("not isinstance(values, str)"), parsed("not isinstance(values, Iterable)")))
    assert meant([remedy], both, "values should be a string or an Iterable", people(values="1"))
    assert not meant([remedy], both, "values are wrong", people(values="1"))


def test_a_field_that_is_converted_or_filled_in_is_the_users(explained: Callable[..., Report]):
    report = explained(
        "GaugeConfig(marks=6, every=4, least=0)",
        [("marks do not go together", "__post_init__")],
        "ValueError: marks do not go together with every",
    )
    assert [one["code"] for one in report.explained[0]["suggestions"]][:1] == ["every=3"]
    report = explained(
        "GaugeConfig(least=0)", [("least is too small", "__post_init__")], "ValueError: least is too small"
    )
    assert [one["code"] for one in report.explained[0]["suggestions"]][:1] == ["least=1"]
