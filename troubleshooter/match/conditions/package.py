"""Whether the run uses a package."""

from __future__ import annotations

import re

from kb import lazy
from kb.compiled_conditions import PackageCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.observe.facts import canonical


def evaluate(condition: PackageCondition, context: Context) -> Outcome:
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
