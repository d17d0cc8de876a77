"""The confidence of one candidate: what its symptom starts with, and what the log adds or takes off (`weights`)."""

from __future__ import annotations

from troubleshooter import weights
from troubleshooter.match.conditions.version import version_state
from troubleshooter.match.engine import Candidate
from troubleshooter.match.outcome import Evidence
from troubleshooter.notices import only_warned
from troubleshooter.observe.observations import Observations
from troubleshooter.ranked import Ranked, VersionState
from troubleshooter.weights import CERTAIN, LIKELY, Score


def weigh(candidate: Candidate, observations: Observations) -> Ranked:
    """The answer with its confidence, before other answers are looked at."""
    trial = candidate.trial
    support = sum(o.state == "held" for o in trial.support)
    against = sum(o.state == "contradicted" for o in trial.support)
    score = (
        Score.start("decisive", weights.DECISIVE) if trial.decisive else Score.start("indecisive", weights.INDECISIVE)
    )
    if candidate.body.get("fallback_for") is not None:
        score = score.at_most("general", weights.GENERAL)
    score = score.add("support", min(weights.MAX_SUPPORT, weights.SUPPORT * support))
    score = score.add("against", -min(weights.MAX_AGAINST, weights.AGAINST * against))
    if unseen := trial.unseen:
        score = score.add("unseen", -min(weights.MAX_UNSEEN, weights.UNSEEN * unseen))
        score = score.at_most("unseen-limit", (CERTAIN if trial.decisive else LIKELY) - weights.UNSEEN_BELOW)
    versions: VersionState = "unknown"
    evidence: list[Evidence] = []
    for package, range_ in candidate.body.get("versions", {}).items():
        state, shown = version_state(package, range_, observations)
        evidence += shown
        printed = any(shown_.line is fact.line for shown_ in shown for fact in observations.facts)
        if state == "held" and versions == "unknown":
            versions = "inside"
            score = score.add("inside", weights.INSIDE if printed else weights.INSIDE_BY_MESSAGES)
        elif state == "contradicted":
            versions = "outside"
            score = score.times("outside", weights.OUTSIDE if printed else weights.OUTSIDE_BY_MESSAGES)
    installed = any(
        fact.basis == "environment" and any(fact.line is one.line for one in evidence) for fact in observations.facts
    )
    answer = Ranked(candidate, score, (), versions, tuple(evidence), installed)
    if candidate.body.get("status") == "draft":
        answer = answer.limited("draft", weights.DRAFT, "the entry is a draft")
    if (note := only_warned(candidate, observations)) is not None:
        answer = answer.limited("goes-on", weights.GOES_ON, note)
    score = answer.score.at_most("highest", weights.HIGHEST).at_least("lowest", weights.LOWEST)
    return answer._replace(score=score)
