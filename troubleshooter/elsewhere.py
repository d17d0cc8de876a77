"""If an answer's words fit but another place raised them, the answer is at most "possible", and an explanation can be added.

An entry that names frames says where its failure is raised. In three cases the log shows that the same words came from elsewhere,
often for another reason:

- It shows a whole traceback without any of these frames, and the library which raised belongs to none of them. This says nothing
  about a traceback that ends in the user's own code, because that one may have been shortened.
- Its traceback has a frame or a line of code that the symptom requires, but code outside of all installed packages, which the
  library had called, raised. This counts only for a message that Python prints about any code and whose names everybody's code
  has (``'NoneType' object is not iterable``): a library's own words name their cause whoever called.
- Its traceback ends with a ``raise`` or an ``assert`` of the user's own code, while the releases that the index read print the words
  in Python files of their own, and neither their package nor the name of such a file stands in the traceback, as with a clone or a copy (docs/decisions/0056).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kb import lazy
from kb.compiled_conditions import Condition
from kb.printed import parsed, rows_of
from troubleshooter.match.conditions.frame import is_at
from troubleshooter.match.outcome import Trial
from troubleshooter.match.regex import search
from troubleshooter.observe.model import Failure, Frame
from troubleshooter.paths import is_own
from troubleshooter.ranked import Ranked
from troubleshooter.read.text import fold
from troubleshooter.weights import DOUBTED, LIKELY

PASSING_ON = ("torch/nn/modules/module.py", "<frozen", "<string>")
"""Files that pass on calls and attributes of all packages, so that a frame in them proves nothing."""
_INSTALLED = lazy.compile(r"/(?:site|dist)-packages/([A-Za-z_]\w*)(?:/|\.py$)")
NOTE = "raised at another place than the one that this answer is about"


def elsewhere(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The answers, with a lower confidence if the traceback shows that another place raised."""
    return [
        item.limited("elsewhere", DOUBTED, NOTE)
        if item.confidence >= LIKELY and (_is_elsewhere(item) or _is_called_back(item) or _is_of_own_code(item))
        else item
        for item in ranked
    ]


def _is_elsewhere(item: Ranked) -> bool:
    """Whether another library raised than those whose frames the symptom names."""
    trial = item.candidate.trial
    failure = trial.anchor.failure if trial.anchor is not None else None
    if failure is None or not failure.uncaught or "CUDA error" in failure.message:
        return False  # a CUDA error is reported by some later call, so its place means nothing
    symptom = _symptom(item)
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


def _is_called_back(item: Ranked) -> bool:
    """Whether the user's own code raised what any code can, below the place that the symptom requires."""
    trial = item.candidate.trial
    failure = trial.anchor.failure if trial.anchor is not None else None
    if failure is None or len(failure.frames) < 2 or not is_own(failure.frames[-1].path):
        return False
    *outer, inner = failure.frames
    if any(frame.path == inner.path for frame in outer if is_own(frame.path) and _asked(item, frame)):
        return False  # the file that raised is the one that the symptom is about
    if _asked(item, inner) or not any(_asked(item, frame) for frame in outer) or _rests_on_more(trial, failure):
        return False
    from kb.any_code import generic  # few answers come here, and a start must not wait for its names

    found = generic(failure.type, failure.message)
    return found is not None and all(slot.everyday for slot in found.slots)


def _is_of_own_code(item: Ranked) -> bool:
    """Whether code of the user's own raised the words with a statement of its own, while releases print them in Python of theirs."""
    trial = item.candidate.trial
    failure = trial.anchor.failure if trial.anchor is not None else None
    if failure is None or not failure.uncaught or not is_own(failure.frames[-1].path):
        return False
    inner = failure.frames[-1]
    if not inner.shown or not inner.shown[0].lstrip().startswith(("raise ", "assert ")) or _asked(item, inner):
        return False
    rows = [row for row in rows_of(item.candidate.id) if row[1] == trial.symptom and row[3] == "printed"]
    files = [file for row in rows for *_, several in parsed(row[4]) for file in several]
    theirs = {part for file in files for part in (file.partition("/")[0], file.rpartition("/")[2])}
    shown = {part for frame in failure.frames for part in frame.path.split("/")}
    # A clone has the package's folder in its path, and a copy has the name of the file.
    return bool(files) and all(file.endswith(".py") for file in files) and not theirs & shown


def _symptom(item: Ranked) -> dict[str, list[Condition]]:
    return next(one for one in item.candidate.body["symptoms"] if one["name"] == item.candidate.trial.symptom)


def _asked(item: Ranked, frame: Frame) -> bool:
    """Whether the symptom requires this frame, or words of its code."""
    shown = [fold(line) for line in (*((frame.seen.text,) if frame.seen else ()), *frame.shown)]
    for condition in _leaves(_symptom(item)["require"]):
        if condition["kind"] == "frame" and is_at(condition, frame):
            return True
        if condition["kind"] == "line" and any(search(p["re"], line) for p in condition["patterns"] for line in shown):
            return True
    return False


def _leaves(conditions: Iterable[Condition]) -> Iterator[Condition]:
    for condition in conditions:
        if condition["kind"] == "any" or condition["kind"] == "all":
            yield from _leaves(condition["parts"])
        else:
            yield condition


def _rests_on_more(trial: Trial, failure: Failure) -> bool:
    """Whether something outside of the traceback is part of the evidence."""
    return any(
        evidence.line.file != failure.line.file
        or not failure.start.number <= evidence.line.number <= failure.line.number
        for outcome in trial.require
        if outcome.state == "held"
        for evidence in outcome.evidence
    )
