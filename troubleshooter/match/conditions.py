"""Conditions evaluated against observations: held, contradicted or not seen, with the lines that show it."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kb import versions
from kb.compiled import TOLERATED, Knowledge
from kb.placeholders import HOLE
from troubleshooter.match import series
from troubleshooter.match.outcome import Anchor, Evidence, Outcome, State
from troubleshooter.match.regex import compiled, search
from troubleshooter.match.relations import RELATIONS
from troubleshooter.observe import phases
from troubleshooter.observe.facts import canonical
from troubleshooter.observe.model import Failure, Observations, Point
from troubleshooter.observe.observer import fold
from troubleshooter.read import lazy
from troubleshooter.read.line import Line

ANCHORS = 12
"""Exceptions or lines that one symptom is tried on."""

MATCHES = 6
"""Matches of one pattern in one message that are tried apart."""

Condition = dict[str, Any]
_INSTALLED = lazy.compile(r"^.*/(?:site|dist)-packages/")


@dataclass(slots=True)
class Context:
    """A symptom's view of the log: what was observed, what it is anchored to, what its patterns captured."""

    observations: Observations
    knowledge: Knowledge
    base: int = 0
    anchor: Anchor | None = None
    captured: dict[str, str] = field(default_factory=dict)

    def lines(self, pattern: dict[str, Any]) -> Iterator[Line]:
        """Lines that hold a literal of the pattern, in the order of the log."""
        found: dict[tuple[int, int, str], Line] = {}
        for literal in pattern["literals"]:
            for line in self.observations.hits.get(self.base + literal, ()):
                found[line.file, line.number, line.text] = line
        return iter(sorted(found.values(), key=lambda line: (line.file, line.number)))

    def may_match(self, pattern: dict[str, Any], text: str) -> bool:
        """Whether a text in lower case holds a literal of the pattern: without one, compiling the pattern is in vain."""
        literals = pattern["literals"]
        return not literals or any(self.knowledge.literals[self.base + n] in text for n in literals)

    def filled(self, text: str) -> str | None:
        """A text with its ``<<captures>>``; None when one is missing."""
        missing = [m for m in HOLE.finditer(text) if m[1] not in self.captured]
        return None if missing else HOLE.sub(lambda m: self.captured[m[1]], text)


def evaluate(condition: Condition, context: Context) -> Outcome:
    """The outcome of one condition, of any kind."""
    return _KINDS[condition["kind"]](condition, context)


def anchors(condition: Condition, context: Context) -> Iterator[tuple[Anchor, Outcome]]:
    """Everything in the log that a message, line or combination of them may be about: exceptions first."""
    kind = condition["kind"]
    if kind == "message":
        yield from _message_anchors(condition, context)
    elif kind == "line":
        for pattern in condition["patterns"]:
            for line in context.lines(pattern):
                if found := search(pattern["re"], fold(line.text)):
                    failure = _owner(line, context.observations.failures)
                    outcome = _held(f"line {pattern['re']!r}", line, line.text, found, "the line")
                    yield Anchor(failure, line), outcome
    elif kind == "any":
        for part in condition["parts"]:
            yield from anchors(part, context)
    elif kind == "all":
        for part in condition["parts"]:
            if part["kind"] in ("message", "line", "any"):
                yield from anchors(part, context)
                return


def anchors_on(condition: Condition) -> bool:
    """Whether the condition names something that a symptom can be about."""
    if condition["kind"] in ("any", "all"):
        return any(anchors_on(part) for part in condition["parts"])
    return condition["kind"] in ("message", "line")


# --- messages and lines ---


def _message_anchors(condition: Condition, context: Context) -> Iterator[tuple[Anchor, Outcome]]:
    names, patterns = condition["exception"], condition["patterns"]
    said = _said_message(condition)
    failures = context.observations.failures
    for failure in failures:
        if not failure.exception or (names and not _type_in(failure, names)):
            continue
        if not patterns:
            evidence = Evidence(failure.line, failure.line.text, "the exception")
            yield Anchor(failure, failure.line), Outcome("held", said, [evidence], {}, 0, len(failure.type))
            continue
        for found in _in_message(patterns, failure, context):
            yield Anchor(failure, failure.line), _held(said, failure.line, failure.line.text, found, "the exception")
    for pattern in patterns:
        for line in context.lines(pattern):
            if _owner(line, failures) is not None:
                continue  # an exception's own line: decided above
            if found := search(pattern["re"], fold(line.text)):
                outcome = _held(said, line, line.text, found, "the message, printed outside of a traceback")
                outcome.parts_unseen = 1 if names else 0
                yield Anchor(None, line), outcome


def _in_message(patterns: list[dict[str, Any]], failure: Failure, context: Context) -> Iterator[Any]:
    """Matches in an exception's message: one, or several where they captured different values (many parameters that
    do not fit are listed in one message)."""
    texts = [fold(failure.message), fold(failure.text)]
    if "\n" in failure.message:
        texts.append(fold(failure.text.replace("\n", "")))
    plain = "\0".join(texts).lower()
    for pattern in patterns:
        if not context.may_match(pattern, plain):
            continue
        for text in texts:
            seen: set[tuple[tuple[str, str | None], ...]] = set()
            for found in compiled(pattern["re"]).finditer(text):
                values = tuple(found.groupdict().items())
                if values not in seen:
                    seen.add(values)
                    yield found
                if len(seen) >= MATCHES or not values:
                    break
            if seen:
                return


_FOREIGN = ("java.", "javax.", "kotlin.", "scala.", "org.apache.", "System.")
"""Where exceptions of other languages live that share a name with one of Python's."""


def _type_in(failure: Failure, names: list[str]) -> bool:
    if failure.exception.startswith(_FOREIGN):
        return False
    if failure.type in names:
        return True
    inner = failure.exception.partition("(")[2].rstrip(")")  # RayTaskError(ValueError)
    return inner.rpartition(".")[2] in names if inner else False


def _owner(line: Line, failures: list[Failure]) -> Failure | None:
    """The exception whose message this line is part of."""
    for failure in failures:
        first = failure.line
        if first.file == line.file and first.stream == line.stream and failure.exception:
            span = failure.message.count("\n")
            if first.number <= line.number <= first.number + span and (span or first.text == line.text):
                return failure
    return None


def _message(condition: Condition, context: Context) -> Outcome:
    own = context.anchor.failure if context.anchor else None
    best: Outcome | None = None
    for anchor, outcome in anchors(condition, context):
        if anchor.failure is not None and anchor.failure is own:
            return outcome
        best = best or outcome
    return best or Outcome("unseen", _said_message(condition))


def _said_message(condition: Condition) -> str:
    words = " or ".join(repr(p["re"]) for p in condition["patterns"])
    types = " or ".join(condition["exception"])
    return f"{types} {words}".strip() if types else f"message {words}"


def _line(condition: Condition, context: Context) -> Outcome:
    said = "line " + " or ".join(repr(p["re"]) for p in condition["patterns"])
    hits: list[tuple[Line, Any]] = []
    for pattern in condition["patterns"]:
        for line in context.lines(pattern):
            if found := search(pattern["re"], fold(line.text)):
                hits.append((line, found))
    if len({(line.file, line.number) for line, _ in hits}) < condition["at_least"]:
        return Outcome("unseen", said)
    line, found = hits[0]
    return _held(said, line, line.text, found, "the line")


def _held(said: str, line: Line, text: str, found: Any, why: str) -> Outcome:
    captured = {name: value for name, value in found.groupdict().items() if value is not None}
    return Outcome("held", said, [Evidence(line, text, why)], captured, 0, len(found.group()))


# --- frames, phases, ranks: about the anchor ---


def _frame(condition: Condition, context: Context) -> Outcome:
    said = f"frame {' or '.join(condition['paths'])}" + (" innermost" if condition["at"] == "innermost" else "")
    failure = context.anchor.failure if context.anchor else None
    if failure is None or not failure.frames:
        return Outcome("unseen", said)
    frames = failure.frames[-1:] if condition["at"] == "innermost" else failure.frames
    for frame in reversed(frames):
        path = frame.path
        if any(part in path for part in condition["paths"]) and (
            not condition["functions"] or frame.function.rpartition(".")[2] in condition["functions"]
        ):
            text = f"{_INSTALLED.sub('', path)}:{frame.line} in {frame.function}"
            return Outcome("held", said, [Evidence(failure.start, text, "the frame")])
    cut = failure.cut and condition["at"] == "anywhere"
    return Outcome("unseen" if cut else "contradicted", said)


def _phase(condition: Condition, context: Context) -> Outcome:
    wanted = set(condition["phases"])
    said = "phase " + " or ".join(sorted(wanted))
    failure = context.anchor.failure if context.anchor else None
    if failure is not None and (told := phases.of_failure(failure)):
        if told & wanted:
            return Outcome("held", said)
        return Outcome("contradicted", said)
    before = [
        (phase, line)
        for phase, line in context.observations.phases
        if context.anchor is None or (line.file, line.number) <= (context.anchor.line.file, context.anchor.line.number)
    ]
    if not before:
        return Outcome("unseen", said)
    phase, line = before[-1]
    if phase in wanted:
        return Outcome("held", said, [Evidence(line, line.text, "what was printed last before it")])
    return Outcome("unseen", said)


def _ranks(condition: Condition, context: Context) -> Outcome:
    said = f"ranks: {condition['ranks']}"
    failure = context.anchor.failure if context.anchor else None
    if failure is None or not failure.ranks:
        return Outcome("unseen", said)
    wanted = condition["ranks"]
    if wanted == "first":
        others = [f for f in context.observations.failures if f.ranks and f is not failure and f.role == "initiating"]
        state: State = "held" if all(failure.line.number <= f.line.number for f in others) else "contradicted"
    else:
        state = "held" if (len(failure.ranks) == 1) == (wanted == "one") else "contradicted"
    return Outcome(state, said, [Evidence(failure.line, failure.line.text, f"ranks {sorted(failure.ranks)}")])


# --- metrics ---


def _metric(condition: Condition, context: Context) -> Outcome:
    said = f"metric {' or '.join(condition['names'])} is {condition['is']}"
    if condition["value"] is not None:
        said += f" {condition['value']}"
    known = False
    for name, points in context.observations.metrics.items():
        if not _named(name, condition["names"]):
            continue
        if len(points) < condition["points"]:
            continue
        known = True
        if (point := _shown(condition, points, context)) is not None:
            why = (
                f"{name} = {point.value:g}"
                if condition["is"] in ("above", "below", "equal")
                else f"{name} {condition['is']}"
            )
            return Outcome("held", said, [Evidence(point.line, point.line.text, why)])
    return Outcome("contradicted" if known else "unseen", said)


def _named(name: str, wanted: list[str]) -> bool:
    return name in wanted or any("*" in w and fnmatch.fnmatchcase(name, w) for w in wanted)


def _shown(condition: Condition, points: list[Point], context: Context) -> Point | None:
    shape, value = condition["is"], condition["value"]
    if condition["every"] and not series.every(points, shape, value):
        return None
    if condition["beside"] and shape in series.POINTWISE:
        shows = series.POINTWISE[shape]
        candidates: Iterator[Point] = (p for p in points if shows(p.value, value or 0.0))
    else:
        point = series.first(points, shape, value)
        candidates = iter([point] if point is not None else [])
    good = next((p.record for p in points if series.finite(p.value) and p.value != 0), None)
    for point in candidates:
        if condition["after_finite"] and (good is None or good >= point.record):
            continue
        if all(_beside(other, point, context) for other in condition["beside"]):
            return point
    return None


def _beside(condition: Condition, point: Point, context: Context) -> bool:
    for name in context.observations.metrics:
        if _named(name, condition["names"]):
            here = context.observations.beside(name, point)
            if here is not None and series.first([here], condition["is"], condition["value"]) is not None:
                return True
    return False


# --- facts ---


def _version(condition: Condition, context: Context) -> Outcome:
    said, state, evidence = [], "held", []
    for package, range_ in condition["version"].items():
        package_, wanted = context.filled(package), context.filled(range_)
        said.append(f"{package_ or package} {wanted or range_}")
        if package_ is None or wanted is None:
            state = "unseen" if state == "held" else state
            continue
        one, shown = version_state(package_, wanted, context.observations)
        evidence += shown
        if one == "contradicted" or state == "held":
            state = one
    return Outcome(state, "version " + ", ".join(said), evidence)  # type: ignore[arg-type]


def version_state(package: str, range_: str, observations: Observations) -> tuple[State, list[Evidence]]:
    """Whether the log shows a version of the package inside the range."""
    facts = observations.named("version", canonical(package))
    for fact in facts:
        try:
            inside = versions.contains(range_, fact.value)
        except ValueError:
            continue
        if inside:
            return "held", [Evidence(fact.line, fact.line.text, f"{fact.name} {fact.value} lies in {range_}")]
    if facts:
        fact = facts[0]
        return "contradicted", [Evidence(fact.line, fact.line.text, f"{fact.name} {fact.value} lies outside {range_}")]
    return "unseen", []


def _package(condition: Condition, context: Context) -> Outcome:
    said = "package " + " or ".join(condition["names"])
    names = {n.lower().replace("-", "_") for n in condition["names"]}
    for failure in context.observations.failures:
        for frame in failure.frames:
            path = frame.path.lower().replace("-", "_")
            if any(f"/{n}/" in path or path.startswith(f"{n}/") or f"/{n}_" in path or f"/{n}." in path for n in names):
                return Outcome("held", said, [Evidence(failure.start, f"{frame.file}:{frame.line}", "a frame")])
    for name in names:
        for kind, why in (("version", "a version in the log"), ("package", "the prefix of its lines")):
            for fact in context.observations.named(kind, canonical(name)):
                return Outcome("held", said, [Evidence(fact.line, fact.line.text, why)])
    word = lazy.compile(
        r"(?<![\w])(?:" + "|".join(re.escape(n).replace("_", "[-_ ]?") for n in names) + r")(?![\w])", re.I
    )
    for line in context.lines(condition):
        if word.search(line.text):
            return Outcome("held", said, [Evidence(line, line.text, "named in the log")])
    return Outcome("unseen", said)


def _gpu(condition: Condition, context: Context) -> Outcome:
    pattern, range_ = condition.get("gpu"), condition.get("capability")
    said = " ".join(filter(None, [f"GPU {pattern!r}" if pattern else "", f"capability {range_}" if range_ else ""]))
    named = context.observations.named("gpu")
    if pattern:
        for fact in named:
            if search(pattern, fact.name):
                return Outcome("held", said, [Evidence(fact.line, fact.line.text, f"GPU {fact.name}")])
        if range_ is None:
            return Outcome("contradicted" if named else "unseen", said)
    known = [(fact.value, fact) for fact in context.observations.named("capability")]
    for fact in named:
        known += [(str(value), fact) for value in _capabilities(fact.name, context.knowledge)]
    for value, fact in known:
        if range_ and versions.contains(range_, value):
            return Outcome("held", said, [Evidence(fact.line, fact.line.text, f"compute capability {value}")])
    return Outcome("contradicted" if known else "unseen", said)


def _capabilities(name: str, knowledge: Knowledge) -> list[str]:
    """Compute capability of a GPU by its name, from the table."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    for length in range(min(4, len(words)), 0, -1):  # the longest fragment that the table names
        for start in range(len(words) - length + 1):
            key = " ".join(words[start : start + length])
            if found := [str(row["capability"]) for row in knowledge.rows("gpu-capability", key)]:
                return found
    return []


def _flag(condition: Condition, context: Context) -> Outcome:
    value = condition["value"]
    said = f"flag {' or '.join(condition['names'])}" + (f" = {value}" if value else "")
    names = "|".join(re.escape(n).replace("_", "[-_]").replace(r"\-", "[-_]") for n in condition["names"])
    shape = lazy.compile(
        rf"(?<![\w.])(?P<dash>--?)?['\"]?(?:{names})['\"]?(?:\s*[=:]\s*|\s+)?['\"]?(?P<value>[\w.+/-]+)?", re.IGNORECASE
    )
    other = False
    for line in context.lines(condition):
        for found in shape.finditer(line.text):
            assigned = found["value"] if found["value"] and not found["value"].startswith("--") else None
            given = assigned or ("true" if found["dash"] else None)
            if given is None:
                continue
            if value is None or search(f"(?i)^(?:{value})$", given):
                return Outcome("held", said, [Evidence(line, line.text, "the option")])
            other = True
    return Outcome("contradicted" if other else "unseen", said)


_SYSTEMS = ("windows", "linux", "macos")


def _platform(condition: Condition, context: Context) -> Outcome:
    wanted = condition["platform"]
    seen = {fact.name: fact for fact in context.observations.named("platform")}
    if wanted in seen:
        fact = seen[wanted]
        return Outcome("held", f"platform {wanted}", [Evidence(fact.line, fact.line.text, wanted)])
    other = wanted in _SYSTEMS and any(name in seen for name in _SYSTEMS)
    return Outcome("contradicted" if other else "unseen", f"platform {wanted}")


def _exit(condition: Condition, context: Context) -> Outcome:
    said = "exit " + " or ".join(map(str, condition["statuses"]))
    for exit_ in context.observations.exits:
        if exit_.status in condition["statuses"]:
            captured = {} if exit_.rank is None else {"rank": str(exit_.rank)}
            return Outcome(
                "held", said, [Evidence(exit_.line, exit_.line.text, f"exit status {exit_.status}")], captured
            )
    return Outcome("contradicted" if context.observations.exits else "unseen", said)


# --- relations and tables ---


def _relation(condition: Condition, context: Context) -> Outcome:
    values: dict[str, Any] = {}
    for name, given in condition["of"].items():
        value: Any = given
        if isinstance(given, str):
            value = context.captured.get(given, context.filled(given) if "<<" in given else None)
        if value is None:
            return Outcome("unseen", f"{condition['relation']}: {name} is not in the log")
        values[name] = value
    function = RELATIONS.get(condition["relation"])
    said = f"{condition['relation']}({', '.join(f'{k}={v}' for k, v in values.items())})"
    found = function(**values) if function else None
    return Outcome("unseen" if found is None else "held" if found else "contradicted", said)


def _row(condition: Condition, context: Context) -> Outcome:
    said = f"row of {condition['row']} where {condition['where']}"
    where: dict[str, str] = {}
    for column, given in condition["where"].items():
        value = context.filled(given)
        if value is None:
            return Outcome("unseen", said)
        where[column] = value
    key = where.get("name", next(iter(where.values())))
    for row in context.knowledge.rows(condition["row"], key):
        if all(_cell(row.get(column), value) for column, value in where.items()):
            captured = {name: str(value) for name, value in row.items() if isinstance(value, (str, int, float))}
            return Outcome("held", said, [], captured)
    return Outcome("contradicted", said)


def _cell(cell: Any, wanted: str) -> bool:
    if wanted == "*":
        return cell not in (None, "", [])
    if wanted == "-":
        return cell in (None, "", [])
    return str(cell) == wanted


# --- combinations ---


def _any(condition: Condition, context: Context) -> Outcome:
    parts = [evaluate(part, context) for part in condition["parts"]]
    held = [p for p in parts if p.state == "held"]
    if held:
        best = max(held, key=lambda p: (p.length, -p.parts_unseen))
        return Outcome("held", best.said, best.evidence, best.captured, best.parts_unseen, best.length, parts)
    state: State = "contradicted" if all(p.state == "contradicted" for p in parts) else "unseen"
    return Outcome(state, "any of: " + "; ".join(p.said for p in parts), parts=parts)


def _all(condition: Condition, context: Context) -> Outcome:
    parts: list[Outcome] = []
    inner = context
    for part in condition["parts"]:
        outcome = evaluate(part, inner)
        parts.append(outcome)
        if outcome.captured:
            merged = {**inner.captured, **outcome.captured}
            inner = Context(context.observations, context.knowledge, context.base, context.anchor, merged)
    said = "all of: " + "; ".join(p.said for p in parts)
    if any(p.state == "contradicted" for p in parts):
        return Outcome("contradicted", said, parts=parts)
    if any(p.state == "unseen" and not tolerated(c) for p, c in zip(parts, condition["parts"], strict=True)):
        return Outcome("unseen", said, parts=parts)
    unseen = sum(p.parts_unseen + (p.state == "unseen") for p in parts)
    evidence = [e for p in parts for e in p.evidence]
    captured = {k: v for p in parts for k, v in p.captured.items()}
    return Outcome("held", said, evidence, captured, unseen, sum(p.length for p in parts), parts)


def _not(condition: Condition, context: Context) -> Outcome:
    part = evaluate(condition["part"], context)
    said = f"not: {part.said}"
    if part.state == "held":
        return Outcome("contradicted", said, part.evidence)
    # What was never printed is absent; what a paste rarely holds (frames, versions, GPUs) is only unknown.
    absent = part.state == "contradicted" or not tolerated(condition["part"])
    return Outcome("held" if absent else "unseen", said)


def tolerated(condition: Condition) -> bool:
    """Kinds of conditions that a paste often lacks: not seen, in ``require``, they only lower the confidence."""
    return condition["kind"] in TOLERATED or condition["kind"] == "not"


_KINDS: dict[str, Callable[[Condition, Context], Outcome]] = {
    "message": _message, "line": _line, "frame": _frame, "metric": _metric, "version": _version, "package": _package,
    "gpu": _gpu, "flag": _flag, "platform": _platform, "exit": _exit, "ranks": _ranks, "phase": _phase,
    "relation": _relation, "row": _row, "any": _any, "all": _all, "not": _not,
}  # fmt: skip
