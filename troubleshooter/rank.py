"""Turn candidates into answers: give each a confidence, leave out those that other answers make useless, and order the
rest."""

from __future__ import annotations

from typing import Literal, NamedTuple

from troubleshooter import weights
from troubleshooter.match.engine import Candidate
from troubleshooter.match.outcome import Trial
from troubleshooter.notices import is_below, is_notice
from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations
from troubleshooter.observe.progress import run_continued_after
from troubleshooter.ranked import Ranked, RankKey
from troubleshooter.weigh import weigh

Dropped = Literal["went-on", "replaced", "aside", "causeless"]
"""Why a candidate is not an answer. ``went-on``: the run continued after it. ``replaced``: a more specific answer replaces
it. ``aside``: it is an after-effect or harmless, and another failure in the log is unexplained. ``causeless``: it knows
no cause, and the log shows another failure."""


class Ranking(NamedTuple):
    """The answers, best first, and the reason why each other candidate (by the id of its entry) is not an answer."""

    answers: list[Ranked]
    dropped: dict[str, Dropped]


def rank(candidates: list[Candidate], observations: Observations) -> list[Ranked]:
    """The answers of `ranking`."""
    return ranking(candidates, observations).answers


def ranking(candidates: list[Candidate], observations: Observations) -> Ranking:
    """Weigh the candidates, leave out those that other answers make useless, and put the rest in order."""
    kept = [c for c in candidates if not _overcome(c, observations)]
    ids = {c.id for c in kept}
    dropped: dict[str, Dropped] = {c.id: "went-on" for c in candidates if c.id not in ids}
    answers = [weigh(c, observations) for c in kept]
    stages: tuple[tuple[Dropped, list[Ranked]], ...]
    specific = _without_replaced(answers)
    without_asides = _without_asides(specific, observations)
    with_cause = _without_causeless(without_asides, observations)
    stages = (("replaced", specific), ("aside", without_asides), ("causeless", with_cause))
    for reason, left in stages:
        ids = {item.candidate.id for item in left}
        for item in answers:
            if item.candidate.id not in ids:
                dropped.setdefault(item.candidate.id, reason)
    placed = [item._replace(key=_key(item, observations)) for item in _with_shared_doubt(with_cause)]
    return Ranking(sorted(placed, key=lambda item: item.key or ()), dropped)


def _overcome(candidate: Candidate, observations: Observations) -> bool:
    """True if the candidate is a crash or hang after which the run went on; then nothing failed."""
    anchor = candidate.trial.anchor
    if anchor is None or candidate.body["severity"] not in ("crash", "hang"):
        return False
    if not candidate.body.get("cause_known", True):  # it is about the end of the log, so nothing can follow
        return False
    if anchor.failure is not None:
        return anchor.failure.role == "handled"
    end = observations.ending
    if candidate.trial.unseen and end.state == "ended" and end.line is not None and is_below(end.line, anchor.line):
        return True  # the line names no exception, and the run came to its end
    if not run_continued_after(observations.progress, anchor.line):
        return False
    return all(
        run_continued_after(observations.progress, line) for line in observations.lines_with_text(anchor.line.text)
    )


def _without_replaced(ranked: list[Ranked]) -> list[Ranked]:
    by_id = {r.candidate.id: r for r in ranked}
    gone: set[str] = set()
    for item in ranked:
        body = item.candidate.body
        parent = body.get("variant_of")
        if parent in by_id:
            gone.add(parent)
        replaced = body.get("fallback_for")
        if replaced is not None:
            specific = [by_id[i] for i in replaced if i in by_id]
            if any(s.versions != "outside" for s in specific) or (
                not replaced and any(_same_place(item, o) for o in ranked if o is not item and not _is_fallback(o))
            ):
                gone.add(item.candidate.id)
    return [r for r in ranked if r.candidate.id not in gone]


def _without_asides(ranked: list[Ranked], observations: Observations) -> list[Ranked]:
    """Leave out after-effects and harmless messages if the log holds a failure that no answer explains."""
    if any(r.candidate.body["role"] == "root" and r.candidate.body["kind"] == "failure" for r in ranked):
        return ranked
    initiating = [f for f in observations.failures if f.role == "initiating"]
    open_failures = [f for f in initiating if f.exception]
    if not open_failures:
        # A traceback that was cut before its last line may have any after-effect, but was not harmless.
        return [r for r in ranked if r.candidate.body["kind"] != "harmless"] if initiating else ranked
    return [r for r in ranked if r.candidate.body["role"] != "cascade" and _about(r.candidate.trial, open_failures)]


def _without_causeless(ranked: list[Ranked], observations: Observations) -> list[Ranked]:
    """Leave out answers that know no cause if the log shows any other failure, explained or not."""
    seen = any(f.role in ("initiating", "cascade") for f in observations.failures)
    known = any(r.candidate.body["kind"] == "failure" and _knows_cause(r) for r in ranked)
    return [r for r in ranked if _knows_cause(r)] if seen or known else ranked


def _knows_cause(item: Ranked) -> bool:
    return bool(item.candidate.body.get("cause_known", True))


def _about(trial: Trial, failures: list[Failure]) -> bool:
    """Whether the symptom is about one of the failures, or about the line above it that says where it was raised
    ("Exception in thread …")."""
    if trial.anchor is None:
        return False
    found, line = trial.anchor.failure, trial.anchor.line
    if found is None and line.text.startswith("Exception "):
        return any(f.start.file == line.file and f.start.number == line.number + 1 for f in failures)
    return any(found is f for f in failures)


def _is_fallback(item: Ranked) -> bool:
    return item.candidate.body.get("fallback_for") is not None


def _same_place(a: Ranked, b: Ranked) -> bool:
    return _place(a.candidate.trial) == _place(b.candidate.trial)


def _place(trial: Trial) -> tuple[int, int] | None:
    return (trial.anchor.line.file, trial.anchor.line.number) if trial.anchor else None


def _with_shared_doubt(ranked: list[Ranked]) -> list[Ranked]:
    """The answers, with a lower confidence for specific ones that rest on the same line: for the less specific one, or for
    both if they are equally specific."""
    out = []
    for item in ranked:
        rivals = [
            r
            for r in ranked
            if r is not item
            and _same_place(item, r)
            and not _is_fallback(r)
            and r.candidate.body["role"] == item.candidate.body["role"]
            and r.candidate.body["kind"] == item.candidate.body["kind"]
            and r.confidence >= item.confidence - weights.RIVAL_WITHIN
            and _specific(r.candidate.trial) >= _specific(item.candidate.trial)
        ]
        if rivals:
            note = "shares its line with " + ", ".join(r.candidate.id for r in rivals)
            item = item._replace(score=item.score.add("shared-line", -weights.SHARED_LINE), notes=(*item.notes, note))
        out.append(item)
    return out


def _specific(trial: Trial) -> tuple[int, int]:
    """How specific an answer is: the number of required conditions that held, then the length of the matched words."""
    return trial.asked, sum(o.length for o in trial.require) // weights.WORDS_STEP


_BY_ROLE = {
    "initiating": weights.ENDED_THE_RUN,
    "cascade": weights.AFTER_EFFECT,
    "handled": weights.HANDLED,
    "teardown": weights.TEARDOWN,
}


def _key(item: Ranked, observations: Observations) -> RankKey:
    body, trial = item.candidate.body, item.candidate.trial
    end_of_run, general = _end_of_run(item, observations), _is_fallback(item)
    line = trial.anchor.line.number if trial.anchor else 0
    return RankKey(
        harmless=body["kind"] == "harmless",
        after_effect=body["role"] == "cascade",
        no_fix_left=False,
        general_elsewhere=general and end_of_run > weights.SEVERAL_CAUSES,
        end_of_run=end_of_run,
        general=general,
        rough_confidence=-round(item.confidence, 1),
        first_rank_line=line if sum(bool(f.ranks) for f in observations.failures) > 1 else 0,
        confidence=-round(item.confidence, 2),
        conditions=-_conditions(trial),
        words=-sum(o.length for o in trial.require),
        line=line,
    )


def _end_of_run(item: Ranked, observations: Observations) -> float:
    """How close the answer's failure is to what ended the run, as a number of `weights`; a lower one comes first."""
    severity, anchor = item.candidate.body["severity"], item.candidate.trial.anchor
    if anchor is not None and anchor.failure is not None:
        found = _BY_ROLE.get(anchor.failure.role, weights.AFTER_EFFECT)
        several = item.word == "possible" or _is_fallback(item)
        return weights.SEVERAL_CAUSES if found == weights.ENDED_THE_RUN and several else found
    if severity in ("crash", "hang"):
        if anchor is not None and is_notice(anchor, observations):
            return weights.NOTICE
        return weights.CERTAIN_LINE if item.word == "certain" else weights.UNCERTAIN_LINE
    return weights.WRONG_RESULTS if severity == "wrong-results" else weights.NO_CRASH


def _conditions(trial: Trial) -> int:
    """How many conditions held. The more of the log had to fit, the more specific the answer is."""
    return sum(o.state == "held" for o in trial.require) + sum(o.state == "held" for o in trial.support)
