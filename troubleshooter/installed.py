"""Find fixes that are not for this log: their condition does not hold, or the releases that they install are installed already.

A fix that only installs packages is compiled with the releases it asks for (``requires``, `kb.compile.installs`). If the log
shows all of these packages in such releases, the fix is not shown. If no fix is left, the log contradicts the answer: it is at
most "possible", and other answers of the same kind come before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kb import versions
from kb.compiled import Knowledge
from kb.compiled_conditions import TOLERATED, Condition, own_patterns
from troubleshooter.match.conditions import evaluate
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Anchor
from troubleshooter.observe.facts import canonical
from troubleshooter.observe.model import Fact
from troubleshooter.observe.observations import Observations
from troubleshooter.ranked import Ranked
from troubleshooter.weights import DOUBTED

_OF_A_FILE = "transformers_version"
"""A line with this key prints a model's configuration, which may name the release that wrote that file, not the installed one."""


def without_fixless(ranked: Sequence[Ranked], observations: Observations, knowledge: Knowledge) -> list[Ranked]:
    """The answers in order. Those whose fixes are all ruled out by the log's versions come last among their kind."""
    return sorted((_judged(item, observations, knowledge) for item in ranked), key=lambda item: item.key or ())


def _judged(item: Ranked, observations: Observations, knowledge: Knowledge) -> Ranked:
    """The answer, with a lower confidence and a later place if no fix is left."""
    if item.key is None or not (shown := _left_without(item, observations, knowledge)):
        return item
    note = "its fixes ask for what the log shows as installed: " + ", ".join(shown)
    return item.limited("no-fix-left", DOUBTED, note)._replace(key=item.key._replace(no_fix_left=True))


def _left_without(item: Ranked, observations: Observations, knowledge: Knowledge) -> list[str]:
    """The installed releases that rule out all fixes of an answer; [] if at least one fix is left."""
    found = knowledge.find(item.candidate.id)
    assert found is not None
    fixes = found[0]["fixes"]
    if not any("requires" in fix for fix in fixes):
        return []
    context = item.candidate.context(observations, knowledge)
    shown: dict[str, None] = {}
    for fix in fixes:
        installed = already_installed(fix, context)
        if installed is None and not ruled_out(fix, context):
            return []
        shown |= dict.fromkeys(f"{fact.name} {fact.value}" for fact in installed or ())
    return list(shown)


def ruled_out(fix: Mapping[str, Any], context: Context) -> bool:
    """True if the log contradicts the condition of a fix (``when``), or lacks the words that it asks for."""
    return "when" in fix and _fails(fix["when"], context)


def _fails(condition: Condition, context: Context) -> bool:
    """Whether a condition is contradicted, or asks for printed words that the log lacks: what was never printed is absent,
    and not only unknown."""
    if condition["kind"] == "any":
        return all(_fails(part, context) for part in condition["parts"])
    if condition["kind"] == "all":
        return any(_fails(part, context) for part in condition["parts"])
    state = evaluate(condition, context).state
    return state == "contradicted" or (state == "unseen" and bool(own_patterns(condition)))


_OF_SOME_RUNS = (TOLERATED | {"value"}) - {"version"}
"""Kinds of conditions that hold in some of the runs of which a paste shows nothing. A version only rules releases out."""


def is_for_some(fix: Mapping[str, Any], context: Context) -> bool:
    """True if a fix asks for a frame, a package or another sign of which the log shows nothing, neither for nor against it.

    It is one for some of the runs that print this, so that fixes for all of them come before it.
    """
    return "when" in fix and _asks_unseen(fix["when"], context)


def _asks_unseen(condition: Condition, context: Context) -> bool:
    if condition["kind"] == "any":
        # A part that the log rules out can no longer make the condition hold.
        left = [part for part in condition["parts"] if not _fails(part, context)]
        return bool(left) and all(_asks_unseen(part, context) for part in left)
    if condition["kind"] == "all":
        return any(_asks_unseen(part, context) for part in condition["parts"])
    return condition["kind"] in _OF_SOME_RUNS and evaluate(condition, context).state == "unseen"


def already_installed(fix: Mapping[str, Any], context: Context) -> list[Fact] | None:
    """The facts which show that every release of a fix is installed; None if one is not, or if the fix does something else."""
    if "requires" not in fix:
        return None
    shown: list[Fact] = []
    for package, range_ in fix["requires"].items():
        wanted = context.filled(range_)
        facts = context.observations.facts_of("version", canonical(package))
        if wanted is None or not facts or not all(_lies_in(wanted, fact, context.anchor) for fact in facts):
            return None
        shown.append(facts[0])
    return shown


def _lies_in(range_: str, fact: Fact, anchor: Anchor | None) -> bool:
    if _OF_A_FILE in fact.line.text or (anchor is not None and fact.line is anchor.line):
        return False  # the message of a failure may name a release that it asks for, not the installed one
    try:
        return versions.contains(range_, fact.value)
    except ValueError:
        return False
