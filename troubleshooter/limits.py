"""What limits the confidence of ranked answers: facts that the ranking itself does not weigh."""

from __future__ import annotations

from collections.abc import Sequence

from kb.compiled import Knowledge
from kb.printed import from_one_thread
from troubleshooter.elsewhere import elsewhere
from troubleshooter.installed import without_fixless
from troubleshooter.observe.observations import Observations
from troubleshooter.ranked import Ranked
from troubleshooter.unseen import doubted
from troubleshooter.weights import CERTAIN, ONE_THREAD

NOTE = "known from one thread only"


def limited(ranked: Sequence[Ranked], observations: Observations, knowledge: Knowledge) -> list[Ranked]:
    """The answers of `troubleshooter.rank.rank` with their final confidence; those without a usable fix are last."""
    answers = without_fixless(elsewhere(doubted(ranked, observations, knowledge)), observations, knowledge)
    return [_limited_to_one_thread(item) for item in answers]


def _limited_to_one_thread(item: Ranked) -> Ranked:
    """The answer, but not certain if only one thread supports it. The order stays: the answer fits the log as well as before."""
    candidate = item.candidate
    if item.score.value >= CERTAIN and candidate.trial.deciding <= from_one_thread(candidate.id):
        return item.limited("one-thread", ONE_THREAD, NOTE)
    return item
