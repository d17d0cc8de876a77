"""If an answer's words fit but another package raised them, the answer is at most "possible", and an explanation can be added.

An entry that names frames says where its failure is raised. Suppose that the log shows a whole traceback without any of these
frames, and that the library which raised belongs to none of them. Then the same words came from elsewhere, often for another
reason. This says nothing about entries that name no frame, nor about a traceback that ends in the user's own code, because that
one may have been shortened.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb import lazy
from troubleshooter.ranked import Ranked
from troubleshooter.weights import DOUBTED, LIKELY

PASSING_ON = ("torch/nn/modules/module.py", "<frozen", "<string>")
"""Files that pass on calls and attributes of all packages, so that a frame in them proves nothing."""
_INSTALLED = lazy.compile(r"/(?:site|dist)-packages/([A-Za-z_]\w*)(?:/|\.py$)")
NOTE = "raised at another place than the one that this answer is about"


def elsewhere(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The answers, with a lower confidence if the traceback shows that another place raised."""
    return [
        item.limited("elsewhere", DOUBTED, NOTE) if item.confidence >= LIKELY and _is_elsewhere(item) else item
        for item in ranked
    ]


def _is_elsewhere(item: Ranked) -> bool:
    trial = item.candidate.trial
    failure = trial.anchor.failure if trial.anchor is not None else None
    if failure is None or not failure.uncaught or "CUDA error" in failure.message:
        return False  # a CUDA error is reported by some later call, so its place means nothing
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
