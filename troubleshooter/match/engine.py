"""Tries the triggered entries on the log: the best trial of an entry's symptoms makes it a candidate."""

from __future__ import annotations

from collections.abc import Iterator

from kb.compiled import Body, Knowledge
from kb.compiled_conditions import CompiledSymptom, Condition, own_patterns
from troubleshooter.masking import without_digits
from troubleshooter.match.conditions import ANCHORING, anchors, anchors_on, evaluate, excluding, metric
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Anchor, Evidence, Outcome, Trial
from troubleshooter.match.tolerated import tolerated
from troubleshooter.observe.observations import Observations
from troubleshooter.paths import installed_file

ANCHORS, SAME = 12, 3
"""A symptom is tried on at most ``ANCHORS`` exceptions or lines, and on at most ``SAME`` lines that differ only in
digits."""


class Candidate:
    """An entry with a symptom that holds, and the trial that shows it best."""

    __slots__ = ("base", "body", "trial")

    def __init__(self, body: Body, base: int, trial: Trial) -> None:
        self.body = body
        self.base = base
        self.trial = trial

    @property
    def id(self) -> str:
        return str(self.body["id"])

    def context(self, observations: Observations, knowledge: Knowledge) -> Context:
        """What a condition of the entry's fixes or advice is evaluated in: the log, with what the symptom is about and captured."""
        return Context(observations, knowledge, self.base, self.trial.anchor, dict(self.trial.captured))

    @property
    def evidence(self) -> list[Evidence]:
        """The lines that conditions which hold point at, each once, in the order of the log."""
        out: dict[tuple[int, int, str], Evidence] = {}
        for outcome in (*self.trial.require, *self.trial.support):
            for item in outcome.evidence if outcome.state == "held" else ():
                out.setdefault((item.line.file, item.line.number, item.text), item)
        return sorted(out.values(), key=lambda e: (e.line.file, e.line.number))


def candidates(observations: Observations, knowledge: Knowledge) -> list[Candidate]:
    """Every entry with a symptom that holds on this log, in no order."""
    found = []
    for body, base in knowledge.triggered(observations.hits, set(pseudo_literals(observations))):
        log = Context(observations, knowledge, base)
        trials = [
            trial
            for number, symptom in enumerate(body["symptoms"])
            if _may_hold(symptom, log)
            for trial in trials_of(body, base, number, observations, knowledge, full=False)
            if not any(o.state == "held" for o in trial.exclude)
        ]
        if trials:
            best = max(trials, key=_strength)
            # One decisive symptom makes the entry decisive, whichever trial is shown.
            best.deciding |= {trial.symptom for trial in trials if trial.decisive and not trial.unseen}
            _share_captures(best, trials)
            found.append(Candidate(body, base, best))
    return found


def _share_captures(best: Trial, trials: list[Trial]) -> None:
    """Give the trial that is shown the values that it lacks and that another symptom captured, on the same exception or on
    a line that belongs to none.

    The fixes of an entry are the same for all its symptoms, so a placeholder is filled where the log shows its value,
    whichever symptom is shown. Another exception may be another failure: its values are not taken.
    """
    own = best.anchor.failure if best.anchor else None
    for trial in sorted(trials, key=_strength, reverse=True):
        failure = trial.anchor.failure if trial.anchor else None
        if trial is not best and (failure is None or failure is own):
            for name, value in trial.captured.items():
                best.captured.setdefault(name, value)


def _may_hold(symptom: CompiledSymptom, log: Context) -> bool:
    """Whether the log holds the words and the numbers that the required conditions ask for, and no numbers that exclude
    the symptom. Most symptoms that are tried end here."""
    for condition in symptom["require"]:
        patterns = own_patterns(condition)
        if patterns and not log.may_match(patterns):
            return False
        if condition["kind"] == "metric" and not metric.may_hold(condition, log):
            return False
    return not any(c["kind"] == "metric" and evaluate(c, log).state == "held" for c in symptom["exclude"])


def passes(condition: Condition, outcome: Outcome, body: Body, strict: bool = False) -> bool:
    """Whether a required condition lets its symptom hold: it holds itself, or it is not seen and of a kind that a paste
    often lacks.

    There are two exceptions. A variant needs to see its framework in the log. A ``strict`` symptom, whose words belong
    to many entries, needs to see all its required conditions.
    """
    if outcome.state == "unseen" and tolerated(condition) and not strict:
        return not (condition["kind"] == "package" and body.get("variant_of") is not None)
    return outcome.state == "held"


def trials_of(
    body: Body, base: int, number: int, observations: Observations, knowledge: Knowledge, *, full: bool = True
) -> Iterator[Trial]:
    """Trials of one symptom, one for each exception or line that it may be about; one for the whole log if there is
    none.

    ``full``: evaluate every condition, even if an earlier one has already ruled the symptom out (for `explain`).
    """
    symptom: CompiledSymptom = body["symptoms"][number]
    require = symptom["require"]
    log = Context(observations, knowledge, base)
    first = next((i for i, c in enumerate(require) if anchors_on(c)), None)
    count = 0
    kinds: dict[str, int] = {}
    if first is not None:
        for anchor, outcome in anchors(require[first], log):
            count += 1
            if anchor.failure is not None or _few(anchor.line.text, kinds):
                trial = _trial(body, base, symptom, first, anchor, outcome, observations, knowledge, full)
                if trial is not None:
                    yield trial
            if count >= ANCHORS:
                return
        if not count and not full and require[first]["kind"] in ANCHORING:
            return
    if (
        not count
        and (trial := _trial(body, base, symptom, first, None, None, observations, knowledge, full)) is not None
    ):
        yield trial


def _few(text: str, kinds: dict[str, int]) -> bool:
    """Count the line. True if at most `SAME` lines that differ only in digits were tried so far."""
    kind = without_digits(text)
    kinds[kind] = kinds.get(kind, 0) + 1
    return kinds[kind] <= SAME


def _trial(
    body: Body, base: int, symptom: CompiledSymptom, first: int | None, anchor: Anchor | None, found: Outcome | None,
    observations: Observations, knowledge: Knowledge, full: bool,
) -> Trial | None:  # fmt: skip
    context = Context(observations, knowledge, base, anchor, dict(found.captured) if found else {})
    if anchor is not None and anchor.line.rank is not None:
        context.captured.setdefault("rank", str(anchor.line.rank))
    frames = anchor.failure.frames if anchor is not None and anchor.failure is not None else []
    if frames and (installed := installed_file(frames[-1].path)):  # entries use it as ``<<caller>>``
        context.captured.setdefault("caller", installed.package)
    require: list[Outcome] = []
    strict = symptom.get("strict", False)
    for i, condition in enumerate(symptom["require"]):
        outcome = found if found is not None and i == first else evaluate(condition, context)
        if not full and not passes(condition, outcome, body, strict):
            return None
        require.append(outcome)
        if outcome.state == "held":
            context.captured.update((k, v) for k, v in outcome.captured.items() if k not in context.captured)
    support = [evaluate(c, context) for c in symptom["support"]]
    for outcome in support:
        if outcome.state == "held":
            context.captured.update((k, v) for k, v in outcome.captured.items() if k not in context.captured)
    exclude = [excluding(c, context) for c in symptom["exclude"]]
    if anchor is None:  # the symptom is about numbers or an exit: take the first line that shows it
        shown = [e for o in require if o.state == "held" for e in o.evidence]
        anchor = Anchor(None, shown[0].line) if shown else None
    asked = sum(o.state == "held" and _of_the_log(c) for o, c in zip(require, symptom["require"], strict=True))
    return Trial(
        body["id"], symptom["name"], anchor, require, support, exclude, context.captured,
        {symptom["name"]} if symptom["decisive"] else set(), asked,
    )  # fmt: skip


def _of_the_log(condition: Condition) -> bool:
    if condition["kind"] == "any" or condition["kind"] == "all":
        return all(_of_the_log(part) for part in condition["parts"])
    return condition["kind"] not in ("row", "version", "not")


def _strength(trial: Trial) -> tuple[int, int, int, int, int]:
    """Sort key of an entry's trials: one about an exception is best, then the one with fewest unseen conditions, with
    most support, with the longest matched words, and the earliest."""
    support = sum(o.state == "held" for o in trial.support)
    length = sum(o.length for o in trial.require)
    failure = trial.anchor.failure if trial.anchor else None
    crash = 0 if failure is None else 2 if failure.role == "initiating" else 1
    return crash, -trial.unseen, support, length, -(trial.anchor.line.number if trial.anchor else 0)


def pseudo_literals(observations: Observations) -> Iterator[str]:
    yield "always"
    for name in observations.metrics:
        within = observations.bounds(name)
        yield from ("metric", f"metric:{name}")
        if not within.finite:
            yield from ("nonfinite", f"nonfinite:{name}")
        if not within.finite or within.low <= 0 <= within.high:
            yield from ("zero", f"zero:{name}")
    for failure in observations.failures:
        yield f"exception:{failure.type}"
        if "(" in failure.exception:
            yield f"exception:{failure.exception.partition('(')[2].rstrip(')').rpartition('.')[2]}"
    yield f"ends:{observations.ending.state}"
    for exit_ in observations.exits:
        yield f"exit:{exit_.status}"
