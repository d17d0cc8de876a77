"""The telling lines of an exception's message that has several lines.

The first line often says little ("Couldn't cast", "Error(s) in loading state_dict for X:"); the columns, sizes and names
that a reader needs stand below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kb import lazy
from troubleshooter.match.engine import Candidate
from troubleshooter.match.regex import search
from troubleshooter.observe.model import Failure
from troubleshooter.read.line import Line
from troubleshooter.read.text import fold

LINES = 6
"""At most this many lines below the first one are shown."""

# The hints that PyTorch adds below every CUDA error, and the line with which its native frames begin.
_STANDING = lazy.compile(
    r"CUDA kernel errors might be|For debugging consider passing|Compile with `?TORCH_USE_CUDA_DSA|"
    r"Device-side assertion tracking|Search for `?cuda"
)
_NATIVE = lazy.compile(r"Exception raised from |(?:C\+\+ )?CapturedTraceback|frame #\d|#\d+ ")


def telling(failure: Failure, candidate: Candidate) -> list[Line]:
    """At most `LINES` lines below the first line of a message, in their order. Lines that the entry's patterns match, or that
    contain a captured value, are chosen first; then lines from the beginning and the end of the message."""
    body = [line for line in _own(failure) if line.text.strip() and not _STANDING.search(line.text)]
    patterns = list(_patterns(candidate))
    values = {value for value in candidate.trial.captured.values() if len(value) > 1}
    first = [n for n, line in enumerate(body) if _tells(line.text, patterns, values)]
    rest = [n for n in range(len(body)) if n not in first]
    inward = [n for pair in zip(rest, reversed(rest), strict=True) for n in pair][: len(rest)]
    return [body[n] for n in sorted([*first, *inward][:LINES])]


def _own(failure: Failure) -> Iterator[Line]:
    """The lines below the first one, up to native frames."""
    for line in failure.below:
        if _NATIVE.match(line.text.lstrip()):
            return
        yield line


def _tells(text: str, patterns: list[str], values: set[str]) -> bool:
    said = fold(text)
    return any(value in said for value in values) or any(search(pattern, said) for pattern in patterns)


def _patterns(candidate: Candidate) -> Iterator[str]:
    """The patterns of the symptom's conditions."""
    stack: list[dict[str, Any]] = [
        condition
        for symptom in candidate.body["symptoms"]
        if symptom["name"] == candidate.trial.symptom
        for condition in (*symptom["require"], *symptom["support"])
    ]
    while stack:
        condition = stack.pop()
        yield from (pattern["re"] for pattern in condition.get("patterns", ()))
        stack += condition.get("parts", ())
