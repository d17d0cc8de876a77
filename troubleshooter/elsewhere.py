"""An answer whose words fit while another package raised them is at most "possible", so that an explanation can stand beside it.

An entry that names frames says where its failure is raised. Where the log shows a whole traceback, none of these frames is
in it, and a library raised that none of them belongs to, the same words came from elsewhere, often for another reason.
Entries that name no frame are not asked, and a traceback that ends in the run's own code may have been shortened.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb import lazy
from troubleshooter.rank import Ranked
from troubleshooter.weights import DOUBTED, LIKELY

PASSING_ON = ("torch/nn/modules/module.py", "<frozen", "<string>")
"""Files that pass on calls and attributes of all packages, so that a frame in them proves nothing."""
_INSTALLED = lazy.compile(r"/(?:site|dist)-packages/([A-Za-z_]\w*)(?:/|\.py$)")
NOTE = "raised at another place than the one that this answer is about"


def elsewhere(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The answers, with a lower confidence for those that the traceback shows to be about another place."""
    for item in ranked:
        if item.confidence >= LIKELY and _is_elsewhere(item):
            item.score.at_most("elsewhere", DOUBTED)
            item.notes.append(NOTE)
    return list(ranked)


def _is_elsewhere(item: Ranked) -> bool:
    trial = item.candidate.trial
    failure = trial.anchor.failure if trial.anchor is not None else None
    if failure is None or not failure.uncaught or "CUDA error" in failure.message:
        return False  # a CUDA error is reported by a later call, wherever that is
    symptom = next(one for one in item.candidate.body["symptoms"] if one["name"] == trial.symptom)
    packages: set[str] = set()
    for key, outcomes in (("require", trial.require), ("support", trial.support)):
        for condition, outcome in zip(symptom[key], outcomes, strict=True):
            if condition["kind"] == "frame":
                if outcome.state != "contradicted":
                    return False
                packages |= {path.strip("/").partition("/")[0].removesuffix(".py") for path in condition["paths"]}
    raised = [frame.path for frame in failure.frames if not any(part in frame.path for part in PASSING_ON)]
    place = _INSTALLED.search(raised[-1]) if raised and packages else None
    return place is not None and place[1] not in packages
