"""Lines that say that a run, or a step of it, ended well."""

from __future__ import annotations

from typing import ClassVar

from kb import lazy
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line

_KEYWORDS = (
    "train_runtime", "0 failed", " passed", "exit", "training completed", "training succeeded", "successfully ",
    "completed successfully", "build succeeded",
)  # fmt: skip
"""Every line that reports a success contains one of these."""
# Each has an expression of its own: a line that holds one of the words is tried with that word's alone (docs/decisions/0001).
_SUCCESS = (
    ("train_runtime", None),
    ("0 failed", lazy.compile(r"\b0 failed\b(?! to\b)")),
    (" passed", lazy.compile(r"\b\d+ passed\b")),
    ("exit", lazy.compile(r"exit(?:ed with)?(?: code| status)?:? 0\b")),
    ("raining completed", None),
    ("raining succeeded", None),
    ("uccessfully ", lazy.compile(r"[Ss]uccessfully (?:saved|finished|completed|trained)")),
    ("completed successfully", None),
    ("build succeeded", None),
)


def reports_success(text: str) -> bool:
    """Whether a line says that a run, or a step of it, ended well."""
    if " failed," in text or "abort before" in text:  # Open MPI: one before MPI_INIT "completed successfully"
        return False
    for word, pattern in _SUCCESS:  # noqa: SIM110 (no generator here: this runs for many lines of every log)
        if word in text and (pattern is None or pattern.search(text)):
            return True
    return False


_INSTALLED = lazy.compile(r"[Ss]uccessfully (?:built|installed) ")


def reports_install(text: str) -> bool:
    """Whether a line says that packages were built or installed. That is no success of a training."""
    return "uccessfully " in text and _INSTALLED.search(text) is not None


class SuccessReader:
    """Notes in each file's progress where something ended well or was installed."""

    keywords: ClassVar[tuple[str, ...]] = _KEYWORDS
    reads_metric_lines: ClassVar[bool] = True

    def __init__(self, observations: Observations) -> None:
        self._observations = observations

    def read(self, line: Line) -> None:
        """Note a line that reports a success or an installation."""
        if reports_success(line.text):
            self._observations.progress_of(line.file).well = line.number
        elif reports_install(line.text):
            self._observations.progress_of(line.file).installed = line.number
