"""Fixes that the log's own versions speak against: they install what is installed already.

A fix that only installs packages is compiled with the releases it asks for (``requires``, `kb.compile.installs`). Where the log
shows every one of these packages in such a release, the fix changes nothing and is not shown. An answer that is left without
any fix is contradicted by the log: it is at most "possible", and another answer of the same kind stands before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kb import versions
from kb.compiled import Knowledge
from troubleshooter.match.conditions import evaluate
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Anchor
from troubleshooter.observe.facts import canonical
from troubleshooter.observe.model import Fact
from troubleshooter.observe.observations import Observations
from troubleshooter.rank import Ranked
from troubleshooter.weights import DOUBTED

_OF_A_FILE = "transformers_version"
"""Part of a line that prints a model's configuration: it may name the release that wrote the file."""


def without_fixless(ranked: Sequence[Ranked], observations: Observations, knowledge: Knowledge) -> list[Ranked]:
    """The answers in order, those at the end of their kind whose every fix is ruled out by the log's versions."""
    changed = False
    for item in ranked:
        if item.key is not None and (shown := _left_without(item, observations, knowledge)):
            item.score.at_most("no-fix-left", DOUBTED)
            item.notes.append("its fixes ask for what the log shows as installed: " + ", ".join(shown))
            item.key = item.key._replace(no_fix_left=True)
            changed = True
    return sorted(ranked, key=lambda item: item.key or ()) if changed else list(ranked)


def _left_without(item: Ranked, observations: Observations, knowledge: Knowledge) -> list[str]:
    """The installed releases that rule out the fixes of an answer; none while one fix is left."""
    found = knowledge.find(item.candidate.id)
    assert found is not None
    fixes = found[0]["fixes"]
    if not any("requires" in fix for fix in fixes):
        return []
    context = Context(
        observations, knowledge, item.candidate.base, item.candidate.trial.anchor, dict(item.candidate.trial.captured)
    )
    shown: dict[str, None] = {}
    for fix in fixes:
        installed = already_installed(fix, context)
        if installed is None and not ruled_out(fix, context):
            return []
        shown |= dict.fromkeys(f"{fact.name} {fact.value}" for fact in installed or ())
    return list(shown)


def ruled_out(fix: Mapping[str, Any], context: Context) -> bool:
    """Whether the log contradicts what a fix is for (``when``)."""
    return "when" in fix and evaluate(fix["when"], context).state == "contradicted"


def already_installed(fix: Mapping[str, Any], context: Context) -> list[Fact] | None:
    """The facts that show every release that a fix asks for as installed; None where it asks for more, or for something else."""
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
        return False  # a release that the message of the failure speaks of may be one that it asks for
    try:
        return versions.contains(range_, fact.value)
    except ValueError:
        return False
