"""Trials: one set of versions, judged once or several times, and what is remembered of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

__all__ = ["Judge", "Judged", "Outcome", "RunsOfVersions", "Trials", "Versions", "key"]

Outcome = Literal["good", "bad", "skip"]
Versions = Mapping[str, str]
"""The version of each package that a trial states."""

MAX_RUNS: Final = 8
"""Runs of one set of versions at most, where the failure comes and goes."""
DOUBT: Final = 0.02
"""How likely a set of versions that fails now and then may look good for all of its runs."""


@dataclass(frozen=True)
class Judged:
    """What one run said. ``why`` is a sentence for people; ``held`` are the versions that the run really had."""

    outcome: Outcome
    why: str
    seconds: float = 0.0
    held: Versions = field(default_factory=dict)


@dataclass
class RunsOfVersions:
    """All runs of one set of versions."""

    versions: Versions
    runs: list[Judged] = field(default_factory=list)

    @property
    def bad(self) -> int:
        return sum(run.outcome == "bad" for run in self.runs)

    @property
    def good(self) -> int:
        return sum(run.outcome == "good" for run in self.runs)

    @property
    def skipped(self) -> bool:
        return any(run.outcome == "skip" for run in self.runs)

    @property
    def outcome(self) -> Outcome:
        """What all runs together say: one that fails makes it bad."""
        return "bad" if self.bad else "skip" if self.skipped else "good"

    @property
    def mixed(self) -> bool:
        """Whether the same versions passed and failed."""
        return bool(self.bad and self.good)

    @property
    def why(self) -> str:
        """What the run said that decided."""
        order: dict[Outcome, int] = {"bad": 0, "skip": 1, "good": 2}
        return min(self.runs, key=lambda run: order[run.outcome]).why if self.runs else ""


Judge = Callable[[Versions], Judged]
"""Runs one trial."""


def key(versions: Versions) -> str:
    """One text for a set of versions, whatever its order."""
    return " ".join(f"{name}=={version}" for name, version in sorted(versions.items()))


class Trials:
    """Asks the judge, remembers what it said, and repeats it while a failure comes and goes.

    One failing run makes versions bad. They are good once so many runs passed that a failure as rare as the rarest one
    seen would have shown with a probability of at least 1 - `DOUBT`.
    """

    def __init__(
        self, judge: Judge, memory: Path | None = None, progress: Callable[[RunsOfVersions, bool], None] | None = None
    ) -> None:
        """``memory`` is a file of earlier runs, read now and extended with each run; ``progress`` is called before and
        after each run, with whether it ended."""
        self._judge = judge
        self._memory = memory
        self._progress = progress or (lambda tried, ended: None)
        self.tried: dict[str, RunsOfVersions] = {}
        self.needed = 1
        """Passing runs that make versions good."""
        self.runs = 0
        """Runs of this call; those remembered are not counted."""
        for versions, judged in _remembered(memory):
            self.tried.setdefault(key(versions), RunsOfVersions(versions)).runs.append(judged)
        for one in self.tried.values():
            self._learn(one)

    def ask(self, versions: Versions, least: int = 1) -> Outcome:
        """The outcome for these versions, from at least so many runs unless one fails."""
        tried = self.tried.setdefault(key(versions), RunsOfVersions(dict(versions)))
        while not tried.skipped and not tried.bad and tried.good < max(least, self.needed):
            self._run(tried)
        self._learn(tried)
        return tried.outcome

    def repeat(self, versions: Versions) -> None:
        """Run versions once more, whatever is known of them."""
        tried = self.tried.setdefault(key(versions), RunsOfVersions(dict(versions)))
        self._run(tried)
        self._learn(tried)

    def of(self, versions: Versions) -> RunsOfVersions:
        return self.tried[key(versions)]

    def _run(self, tried: RunsOfVersions) -> None:
        self._progress(tried, False)
        judged = self._judge(tried.versions)
        self.runs += 1
        tried.runs.append(judged)
        if self._memory is not None:
            row = {"versions": dict(tried.versions), "outcome": judged.outcome, "why": judged.why}
            with self._memory.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**row, "seconds": judged.seconds, "held": dict(judged.held)}) + "\n")
        self._progress(tried, True)

    def _learn(self, tried: RunsOfVersions) -> None:
        if tried.mixed:
            rate = tried.bad / (tried.bad + tried.good)
            self.needed = max(self.needed, min(MAX_RUNS, math.ceil(math.log(DOUBT) / math.log(1 - rate))))


def _remembered(path: Path | None) -> Iterator[tuple[Versions, Judged]]:
    """The runs of a file; a line that is none (a write that was cut off) is left out."""
    if path is None or not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
            versions = {str(name): str(version) for name, version in row["versions"].items()}
            held = {str(name): str(version) for name, version in row["held"].items()}
            if row["outcome"] in ("good", "bad", "skip"):
                yield versions, Judged(row["outcome"], str(row["why"]), float(row["seconds"]), held)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
