"""Form, compiler, matcher and reference know the same kinds of conditions."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from pathlib import Path
from typing import get_args

import pytest
import yaml

from docs.pages_reference import entry_reference
from kb import conditions as forms
from kb.cache import CHECKOUT
from kb.compiled_conditions import TOLERATED, Condition, Kind, own_patterns
from kb.conditions import FORMS, KINDS
from kb.conditions.base import ANCHOR, ConditionForm, required_literals
from kb.form import Entry
from kb.form_texts import own_wordings
from troubleshooter.explain import explain
from troubleshooter.hook import FORMAT
from troubleshooter.match import conditions as evaluators
from troubleshooter.match.conditions import ANCHORING, EVALUATORS
from troubleshooter.match.tolerated import tolerated
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, from_text


def test_all_know_the_same_kinds() -> None:
    assert len({form.KIND for form in FORMS}) == len(FORMS)
    known = {
        "FORMS of kb/conditions/__init__.py": {form.KIND for form in FORMS},
        "Kind of kb/compiled_conditions.py": set(get_args(Kind)),
        "Condition of kb/compiled_conditions.py": {_kind(one) for one in get_args(Condition)},
        "EVALUATORS of troubleshooter/match/conditions/__init__.py": set(EVALUATORS),
    }
    every = set.union(*known.values())
    lacking = [f"{kind} is missing in {place}" for place, kinds in known.items() for kind in sorted(every - kinds)]
    assert lacking == []
    assert every > TOLERATED
    assert every > set(ANCHORING)
    union = str(Entry.model_json_schema()["$defs"])
    assert all(form.__name__ in union for form in FORMS)


ROOT = Path(__file__).parents[2]
LISTED = re.compile(r"""\("message", "line"|== "message" or [^\n]*"line"|"message", "line"\)""")


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
    condition = form.model_validate(form.EXAMPLE.condition)
    texts: list[str] = []
    compiled = condition.compile(lambda text: texts.append(text) or len(texts) - 1)
    assert compiled["kind"] == form.KIND
    assert set(condition.literals()) <= set(texts)
    assert condition.literals() or condition.signals()
    assert all(KINDS[key] is form for key in form.KEYS)
    assert form.tolerated() == tolerated(compiled)
    assert f"| {form.MEANING.write} |" in entry_reference()


@pytest.mark.parametrize("form", FORMS)
def test_words_are_compiled_to_patterns(form: type[ConditionForm]) -> None:
    """Then all that looks for words knows them: neighbours, proofs of words, the shown lines, and the search of large logs."""
    condition = form.model_validate(form.EXAMPLE.condition)
    given = own_wordings(condition)
    compiled = own_patterns(condition.compile(lambda _: 0))
    assert set(given) <= {one["re"] for one in compiled}, f"{form.KIND}: compile its wordings to `patterns`"
    assert bool(given) == bool(compiled), f"{form.KIND}: a pattern that entries are found by has the type `Wording`"
    if given:
        assert set(required_literals(given)) == set(condition.literals()), f"{form.KIND}: `literals` are those of its wordings"
        assert not form.tolerated(), f"{form.KIND}: words are never tolerated to be missing"


def test_no_module_lists_the_kinds_that_have_words() -> None:
    """It asks for `own_patterns`, so one more kind with words must change no module."""
    modules = [path for name in ("kb", "troubleshooter") for path in (ROOT / name).rglob("*.py")]
    assert [str(path) for path in modules if LISTED.search(path.read_text(encoding="utf-8"))] == []


@pytest.fixture(scope="module")
def of_examples(tmp_path_factory: pytest.TempPathFactory) -> Diagnoser:
    """One entry for each kind of condition, its example beside `ANCHOR`; no others, so that a new kind is tried in seconds."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "tables").mkdir()
    shutil.copy(CHECKOUT / "tables" / "nccl-status.yaml", folder / "tables")
    for form in FORMS:
        id_ = f"kind-{form.KIND}"
        entry = {
            "id": id_, "severity": "crash", "title": f"The condition {form.KIND} holds", "cause": "This is an example.",
            "symptoms": [{"require": [ANCHOR], "support": [form.EXAMPLE.condition], "source": {"run": "a test"}}],
            "fixes": [{"do": "Read the reference"}], "sources": [{"run": "a test", "shows": "cause"}],
        }  # fmt: skip
        place = folder / "kinds" / id_ / "entry.yaml"
        place.parent.mkdir(parents=True)
        place.write_text(yaml.safe_dump(entry), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kb.cache.CHECKOUT", folder)
        patch.setenv("TROUBLESHOOT_CACHE", str(tmp_path_factory.mktemp("cache")))
        return Diagnoser.load()


def state(tool: Diagnoser, form: type[ConditionForm], log: str) -> str:
    """What the example of a kind is on a log that ends with the exception of `ANCHOR`."""
    if form.EXAMPLE.of_facts:
        return _state_with_facts(tool, form, log)
    text = log if "QuuxError" in log else f"{log}\nQuuxError: the flux capacitor is empty"
    return _state(tool, form, [from_text(text + "\n")])


def _state_with_facts(tool: Diagnoser, form: type[ConditionForm], values: str) -> str:
    """The same beside crash facts: ``values`` are the variables of the only frame, ``NAME: JSON``."""
    name, _, fact = values.partition(": ")
    frame = {"file": "train.py", "line": 3, "function": "fill", "code": "take()", "locals": {name: json.loads(fact)}}
    error = {"type": "QuuxError", "module": "quux", "message": "the flux capacitor is empty", "frames": [frame]}
    facts = from_text(json.dumps({"crash_facts": FORMAT, "how": "uncaught", "exceptions": [error]}), "0-1.crash.json")
    facts.facts = True
    return _state(tool, form, [from_text("started\n"), facts])


def _state(tool: Diagnoser, form: type[ConditionForm], sources: list[Source]) -> str:
    found = tool.knowledge.find(f"kind-{form.KIND}")
    assert found is not None
    (one,) = explain(*found, tool.observe(sources, whole=True), tool.knowledge)
    assert one.holds, "the anchor is there"
    return one.trial.support[0].state


@pytest.mark.parametrize("form", FORMS)
def test_the_example_of_a_condition_holds_and_is_contradicted(of_examples: Diagnoser, form: type[ConditionForm]) -> None:
    assert state(of_examples, form, form.EXAMPLE.held) == "held"
    assert bool(form.EXAMPLE.contradicted) != form.MEANING.contradicted.startswith("Never.")
    if form.EXAMPLE.contradicted:
        assert state(of_examples, form, form.EXAMPLE.contradicted) == "contradicted"
    assert f"```text\n{form.EXAMPLE.held}\n```" in entry_reference()
