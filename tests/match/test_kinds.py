"""Form, compiler, matcher and reference know the same kinds of conditions."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import get_args

import pytest

from docs.pages_reference import entry_reference
from kb import conditions as forms
from kb.compiled_conditions import TOLERATED, Condition, Kind
from kb.conditions import FORMS, KINDS
from kb.conditions.base import ConditionForm
from kb.form import Entry
from troubleshooter.match import conditions as evaluators
from troubleshooter.match.conditions import EVALUATORS
from troubleshooter.match.tolerated import tolerated

EXAMPLES = {
    "message": {"exception": "ValueError", "message": "is made for a test"}, "line": {"line": "made for a test"},
    "frame": {"frame": "a/b.py"}, "metric": {"metric": "loss", "is": "nan"}, "version": {"version": {"torch": "<2"}},
    "package": {"package": "trl"}, "gpu": {"gpu": "A100"}, "flag": {"flag": "fp16"}, "platform": {"platform": "linux"},
    "exit": {"exit": [137, -9]}, "ends": {"ends": "failed"}, "ranks": {"ranks": "one"}, "phase": {"phase": "load"},
    "relation": {"relation": "less", "of": {"a": 1, "b": 2}}, "row": {"row": "t", "where": {"name": "x"}},
    "any": {"any": [{"line": "made for a test"}]}, "all": {"all": [{"line": "made for a test"}]},
    "not": {"not": {"line": "made for a test"}},
}  # fmt: skip


def test_all_know_the_same_kinds() -> None:
    kinds = {form.KIND for form in FORMS}
    assert len(kinds) == len(FORMS)
    assert kinds == set(EVALUATORS) == set(get_args(Kind)) == set(EXAMPLES)
    assert kinds == {_kind(one) for one in get_args(Condition)}
    assert kinds > TOLERATED
    union = str(Entry.model_json_schema()["$defs"])
    assert all(form.__name__ in union for form in FORMS)


def _kind(compiled: type) -> str:
    annotation = compiled.__annotations__["kind"]
    text = getattr(annotation, "__forward_arg__", None) or str(annotation)
    return text.partition("[")[2].strip("]'\"")


def test_each_kind_is_a_module_on_both_sides() -> None:
    for package in (forms, evaluators):
        assert package.__file__ is not None
        modules = {path.stem for path in Path(package.__file__).parent.glob("*.py")} - {"__init__", "base", "rarity"}
        assert modules == {form.__module__.rpartition(".")[2] for form in FORMS}
        for name in modules:
            assert importlib.import_module(f"{package.__name__}.{name}").__doc__


@pytest.mark.parametrize("form", FORMS)
def test_a_condition_is_compiled_to_its_kind_and_has_its_row(form: type[ConditionForm]) -> None:
    condition = form.model_validate(EXAMPLES[form.KIND])
    texts: list[str] = []
    compiled = condition.compile(lambda text: texts.append(text) or len(texts) - 1)
    assert compiled["kind"] == form.KIND
    assert set(condition.literals()) <= set(texts)
    assert condition.literals() or condition.signals()
    assert all(KINDS[key] is form for key in form.KEYS)
    assert form.tolerated() == tolerated(compiled)
    assert f"| {form.MEANING.write} |" in entry_reference()
