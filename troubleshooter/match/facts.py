"""Conditions on facts of the environment: versions, packages, GPUs, options, platforms, exits."""

from __future__ import annotations

import re

from kb import lazy, versions
from kb.compiled import Knowledge
from troubleshooter.match.context import Condition, Context
from troubleshooter.match.outcome import Evidence, Outcome, State, quoted
from troubleshooter.match.regex import search
from troubleshooter.observe.facts import canonical
from troubleshooter.observe.observations import Observations


def version(condition: Condition, context: Context) -> Outcome:
    """Whether the installed versions lie in the ranges."""
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
    facts = observations.facts_of("version", canonical(package))
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


def package(condition: Condition, context: Context) -> Outcome:
    """Whether the log shows that a package is used."""
    said = "package " + " or ".join(condition["names"])
    names = {n.lower().replace("-", "_") for n in condition["names"]}
    for failure in context.observations.failures:
        for frame in failure.frames:
            path = frame.path.lower().replace("-", "_")
            if any(f"/{n}/" in path or path.startswith(f"{n}/") or f"/{n}_" in path or f"/{n}." in path for n in names):
                return Outcome(
                    "held", said, [Evidence(frame.seen or failure.start, f"{frame.file}:{frame.line}", "a frame")]
                )
    for name in names:
        for kind, why in (("version", "a version in the log"), ("package", "the prefix of its lines")):
            for fact in context.observations.facts_of(kind, canonical(name)):
                return Outcome("held", said, [Evidence(fact.line, fact.line.text, why)])
    word = lazy.compile(
        r"(?<![\w])(?:" + "|".join(re.escape(n).replace("_", "[-_ ]?") for n in names) + r")(?![\w])", re.I
    )
    for line in context.lines(condition["literals"]):
        if word.search(line.text):
            return Outcome("held", said, [Evidence(line, line.text, "named in the log")])
    return Outcome("unseen", said)


def gpu(condition: Condition, context: Context) -> Outcome:
    """Whether a GPU of that name or compute capability is shown."""
    pattern, range_ = condition.get("gpu"), condition.get("capability")
    said = " ".join(
        filter(None, [f"GPU {quoted(pattern)}" if pattern else "", f"capability {range_}" if range_ else ""])
    )
    named = context.observations.facts_of("gpu")
    if pattern:
        for fact in named:
            if search(pattern, fact.name):
                return Outcome("held", said, [Evidence(fact.line, fact.line.text, f"GPU {fact.name}")])
        if range_ is None:
            return Outcome("contradicted" if named else "unseen", said)
    known = [(fact.value, fact) for fact in context.observations.facts_of("capability")]
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


def flag(condition: Condition, context: Context) -> Outcome:
    """Whether an option has the value."""
    value = condition["value"]
    said = f"flag {' or '.join(condition['names'])}" + (f" = {value}" if value else "")
    names = "|".join(re.escape(n).replace("_", "[-_]").replace(r"\-", "[-_]") for n in condition["names"])
    shape = lazy.compile(
        rf"(?<![\w.])(?P<dash>--?)?['\"]?(?:{names})['\"]?(?:\s*[=:]\s*|\s+)?['\"]?(?P<value>[\w.+/-]+)?", re.IGNORECASE
    )
    other = False
    for line in context.lines(condition["literals"]):
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


def platform(condition: Condition, context: Context) -> Outcome:
    """Whether the run was on the platform."""
    wanted = condition["platform"]
    seen = {fact.name: fact for fact in context.observations.facts_of("platform")}
    if wanted in seen:
        fact = seen[wanted]
        return Outcome("held", f"platform {wanted}", [Evidence(fact.line, fact.line.text, wanted)])
    other = wanted in _SYSTEMS and any(name in seen for name in _SYSTEMS)
    return Outcome("contradicted" if other else "unseen", f"platform {wanted}")


def exit(condition: Condition, context: Context) -> Outcome:
    """Whether a process ended with one of the statuses."""
    said = "exit " + " or ".join(map(str, condition["statuses"]))
    for exit_ in context.observations.exits:
        if exit_.status in condition["statuses"]:
            captured = {} if exit_.rank is None else {"rank": str(exit_.rank)}
            return Outcome(
                "held", said, [Evidence(exit_.line, exit_.line.text, f"exit status {exit_.status}")], captured
            )
    return Outcome("contradicted" if context.observations.exits else "unseen", said)


def ends(condition: Condition, context: Context) -> Outcome:
    """Whether the log ends in this way. Of a log that breaks off, the end of the process is not seen."""
    said = f"the log ends: {condition['ends']}"
    state, line, _ = context.observations.ending
    if state == condition["ends"] and line is not None:
        why = "the exit status" if state == "failed" else "the last line of the training"
        return Outcome("held", said, [Evidence(line, line.text, why)], parts_unseen=int(state != "failed"))
    return Outcome("contradicted" if state == "ended" else "unseen", said)
