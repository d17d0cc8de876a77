"""One log tried on the entries: the answer that ``check`` and the golden file look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kb.samples import EntrySample
from troubleshooter.match.engine import Candidate
from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.rank import rank
from troubleshooter.ranked import Ranked
from troubleshooter.read.sources import Source, from_path, from_text


@dataclass(slots=True)
class Tried:
    """The tool's answer to one log."""

    ranked: list[Ranked]
    candidates: list[Candidate]
    observations: Observations

    @property
    def ids(self) -> list[str]:
        return [r.candidate.id for r in self.ranked]


def sources_of(sample: EntrySample) -> list[Source]:
    """What a sample gives to read: its log, and the crash facts beside it."""
    log = from_text(sample.text)
    if not sample.facts:
        return [log]
    facts = from_text(sample.facts, "0-1.crash.json")
    facts.facts = True
    return [log, facts]


def try_log(tool: Diagnoser, log: Path | EntrySample, *, whole: bool = True) -> Tried:
    """Diagnose a file or a text. ``whole``: the log is not an excerpt, so its end shows how the run ended."""
    observations = tool.observe(from_path(log) if isinstance(log, Path) else sources_of(log), whole=whole)
    found = tool.match(observations)
    return Tried(rank(found, observations), found, observations)
