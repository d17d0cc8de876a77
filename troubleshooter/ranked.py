"""An answer with its confidence, and the key by which answers are put in order."""

from __future__ import annotations

from typing import Literal, NamedTuple

from troubleshooter.match.engine import Candidate
from troubleshooter.match.outcome import Evidence
from troubleshooter.weights import CERTAIN, LIKELY, Reason, Score

Confidence = Literal["certain", "likely", "possible"]
VersionState = Literal["inside", "outside", "unknown"]


class RankKey(NamedTuple):
    """The order of answers: the first part that differs decides, and the lower value comes first."""

    harmless: bool
    after_effect: bool
    no_fix_left: bool
    """The log's versions rule out every fix (`troubleshooter.installed`)."""
    general_elsewhere: bool
    """Whether this is a general answer about something that did not end the run."""
    end_of_run: float
    """How close the failure is to what ended the run: a number of `weights`, 0 for the failure that ended it."""
    general: bool
    rough_confidence: float
    """The confidence rounded to one digit, negative. It is compared before the ranks, so that small differences of
    confidence do not decide which rank has the cause."""
    first_rank_line: int
    """The line number if several ranks failed, else 0: the rank that failed first has the cause, and the others failed
    because they lost it."""
    confidence: float
    """The confidence rounded to two digits, negative."""
    conditions: int
    """How many conditions held, negative: an answer for which more of the log had to fit is more specific."""
    words: int
    """How many characters the patterns matched, negative."""
    line: int


class Ranked(NamedTuple):
    """A candidate with its confidence (0 to 1) and the steps that led to it."""

    candidate: Candidate
    score: Score
    notes: tuple[str, ...] = ()
    versions: VersionState = "unknown"
    """Whether the log's versions are in the entry's affected range."""
    version_evidence: tuple[Evidence, ...] = ()
    versions_installed: bool = False
    """Whether these versions come from an environment that the user named, not from the log."""
    key: RankKey | None = None
    """The place among the answers, which `troubleshooter.rank.ranking` computes."""

    @property
    def confidence(self) -> float:
        return self.score.value

    @property
    def word(self) -> Confidence:
        return "certain" if self.confidence >= CERTAIN else "likely" if self.confidence >= LIKELY else "possible"

    def limited(self, reason: Reason, limit: float, note: str) -> Ranked:
        """The same answer, with this confidence at most; the note says why."""
        return self._replace(score=self.score.at_most(reason, limit), notes=(*self.notes, note))
