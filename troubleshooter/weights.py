"""The numbers that make up the confidence of an answer, each with its meaning.

A confidence lies between 0 and 1. The numbers were chosen on frozen collections of real reports
(`benchmarks/FRESH.md`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

CERTAIN = 0.9
"""An answer with at least this confidence is called certain. `benchmarks/figures.py` measures how often such answers
are right."""
LIKELY = 0.7
"""An answer with at least this confidence is called likely, one below it possible."""
DECISIVE = 0.93
"""The first value for a symptom whose conditions alone name the cause."""
INDECISIVE = 0.78
"""The first value for every other symptom: it fits, but another cause may print the same."""
GENERAL = 0.75
"""The highest value for a general answer (``fallback_for``). If nothing more specific held, such answers were right as
often as likely ones (docs/decisions/0020)."""
SUPPORT, MAX_SUPPORT = 0.03, 0.06
"""Added for each supporting condition that holds, and the most that all of them add."""
AGAINST, MAX_AGAINST = 0.03, 0.06
"""Taken off for each supporting condition that the log contradicts, and the most that all of them take off."""
UNSEEN, MAX_UNSEEN = 0.06, 0.2
"""Taken off for each required condition, or part of one, that the log does not show; and the most that all of them take
off."""
UNSEEN_BELOW = 0.05
"""An answer with something unseen stays this far below certain, or below likely if its symptom is not decisive: another
cause remains possible (docs/decisions/0020)."""
INSIDE = 0.04
"""Added for each package whose version lies inside the entry's affected range, until one lies outside."""
OUTSIDE = 0.6
"""The confidence is multiplied by this for each package whose version lies outside the affected range."""
INSIDE_BY_MESSAGES, OUTSIDE_BY_MESSAGES = 0.02, 0.8
"""The same, if no version was printed but the package's messages date it (`troubleshooter.dating`)."""
SHARED_LINE = 0.1
"""Taken off an answer when another one of equal or greater detail rests on the same line."""
RIVAL_WITHIN = 0.13
"""Another answer is a rival on the same line if its confidence is at most this much lower."""
DOUBTED = LIKELY - 0.05
"""The highest value for an answer about a library that the log does not show."""
DRAFT = LIKELY - 0.05
"""The highest value for an entry that calls itself a draft."""
GOES_ON = LIKELY - 0.05
"""The highest value for an answer about a crash or hang whose line says how the run goes on without it ("…, skipping it")."""
ONE_THREAD = CERTAIN - 0.02
"""The highest value for a symptom that is known from one thread only: one report may be mistaken about its cause."""
LOWEST, HIGHEST = 0.05, 0.99
"""No answer is impossible, and none is beyond doubt."""

# How close an answer's failure is to what ended the run. A lower number comes first.
ENDED_THE_RUN = 0.0
CERTAIN_LINE = 0.1
"""A line, without an exception, that names a crash or hang for certain: before an exception that has several causes."""
SEVERAL_CAUSES = 0.2
"""An exception that ended the run, if the answer is general or only possible."""
UNCERTAIN_LINE = 0.5
"""A line, without an exception, that names a crash or hang, but not for certain."""
NOTICE = 0.6
"""A warning or a retry notice, where an exception ended the run later."""
WRONG_RESULTS = 1.0
AFTER_EFFECT = 1.0
NO_CRASH = 2.0
HANDLED = 2.5
"""An exception after which the run went on."""
TEARDOWN = 3.0
"""The noise of a process that ends."""
WORDS_STEP = 12
"""Characters of matched words that count as one step of detail when two answers share a line."""

Reason = Literal[
    "decisive", "indecisive", "general", "support", "against", "unseen", "unseen-limit", "inside", "outside", "shared-line",
    "doubted", "elsewhere", "draft", "goes-on", "one-thread", "no-fix-left", "lowest", "highest",
]  # fmt: skip
"""Why a step changed the confidence."""


class Step(NamedTuple):
    """One step on the way to a confidence. ``how``: what was done with the number ``by``."""

    reason: Reason
    how: Literal["start", "add", "times", "at-most", "at-least"]
    by: float


class Score(NamedTuple):
    """A confidence with the steps that led to it. A limit is recorded as a step only if it changed the value."""

    value: float
    steps: tuple[Step, ...]

    @classmethod
    def start(cls, reason: Reason, value: float) -> Score:
        return cls(value, (Step(reason, "start", value),))

    def add(self, reason: Reason, by: float) -> Score:
        """Add a number, which may be negative; 0 is no step."""
        return Score(self.value + by, (*self.steps, Step(reason, "add", by))) if by else self

    def times(self, reason: Reason, by: float) -> Score:
        return Score(self.value * by, (*self.steps, Step(reason, "times", by)))

    def at_most(self, reason: Reason, limit: float) -> Score:
        return Score(limit, (*self.steps, Step(reason, "at-most", limit))) if self.value > limit else self

    def at_least(self, reason: Reason, limit: float) -> Score:
        return Score(limit, (*self.steps, Step(reason, "at-least", limit))) if self.value < limit else self
