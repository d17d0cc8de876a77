"""``check``: which fixes no sample shows, because their ``when`` holds in none of the logs that the entry answers.

Such a fix was never tried: the words of its condition may be wrong, or the failure that it is for may not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from kb.compiled import Knowledge
from kb.load import Loaded
from kb.problem import Problem
from troubleshooter.installed import ruled_out
from troubleshooter.observe.observations import Observations
from troubleshooter.ranked import Ranked


def shown(answer: Ranked, observations: Observations, knowledge: Knowledge) -> set[int]:
    """The numbers (from 0) of an answer's fixes whose condition does not rule them out in this log."""
    context = answer.candidate.context(observations, knowledge)
    found = knowledge.find(answer.candidate.id)
    assert found is not None
    return {number for number, fix in enumerate(found[0]["fixes"]) if not ruled_out(fix, context)}


def problems(item: Loaded, seen: Set[int]) -> Iterator[Problem]:
    """A problem for each fix with a condition that is not among those that the samples show (``seen``)."""
    for number, fix in enumerate(item.entry.fixes):
        if fix.when is not None and number not in seen:
            text = "no sample shows this fix: its `when` holds in none of them"
            yield item.document.problem(
                ("fixes", number), text, "add a sample in which it holds, or mend the words of `when`"
            )
