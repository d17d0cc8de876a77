"""How well the programs' failures are explained: ``python -m tests.programs measure [--held] --new PYTHON --old PYTHON``.

Every failure is explained as if no entry knew it, with the source of the environment. "Argument": one of the first three that
are named is one of those written down. "Suggestion": the first, or one of the first two, fits a pattern of what repairs the
program; a pattern asks for the right setting and accepts one without a value (``max_length=...``). A first suggestion that
fits none is counted as "another": those are to be read, for some only show where to look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from math import sqrt

from tests.programs.program import Program
from troubleshooter.explaining.explain import explain
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.given import given
from troubleshooter.verify.environment import ask

Z = 1.96
"""Of an interval that holds the true share 95 times of 100."""


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The interval of a share."""
    share, middle = hits / count, Z * Z / count
    half = Z * sqrt(share * (1 - share) / count + middle / (4 * count))
    return (share + middle / 2 - half) / (1 + middle), (share + middle / 2 + half) / (1 + middle)


def measure(programs: Iterable[Program], pythons: dict[str, str]) -> Counter[str]:
    """Counts of what is right, over these programs; prints a line for each of them."""
    found: Counter[str] = Counter()
    tool = Diagnoser.of([])
    folders = {name: ask(python).path for name, python in pythons.items()}
    for program in programs:
        failures = [one for one in tool.observe(given(program.log)).failures if one.exception]
        told = explain(failures[-1], folders[program.environment])
        found["programs"] += 1
        hits = []
        if told is not None:
            names = [one["name"] for one in told["arguments"][:3]]
            fits = [
                any(re.search(pattern, f"{one['code'] or ''} {one['do']}") for pattern in program.accepts)
                for one in told["suggestions"][:2]
            ]
            is_there = told["function"] == program.place["function"] and told["file"].endswith(program.place["file"])
            marks = {
                "explained": True, "place": is_there, "argument": bool({*names} & {*program.arguments}),
                "first suggestion": fits[:1] == [True], "first or second suggestion": any(fits),
                "first suggestion is another": fits[:1] == [False], "no suggestion": not fits,
            }  # fmt: skip
            hits = [name for name, hit in marks.items() if hit]
            found.update(hits)
        print(f"{program.id}: {', '.join(hits) or 'nothing'}")
    return found


def table(found: Counter[str]) -> str:
    """The counts with their shares and intervals."""
    count = found["programs"]
    lines = []
    for name, hits in found.items():
        low, high = wilson(hits, count)
        lines.append(f"{name:28} {hits:4} of {count}  {hits / count:4.0%}  ({low:.0%} to {high:.0%})")
    return "\n".join(lines)
