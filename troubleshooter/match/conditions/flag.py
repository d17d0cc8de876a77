"""Which launch options the log shows."""

from __future__ import annotations

import re

from kb import lazy
from kb.compiled_conditions import FlagCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.match.regex import search


def evaluate(condition: FlagCondition, context: Context) -> Outcome:
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
