"""The exit statuses of processes, as launchers, schedulers, shells and the kernel report them."""

from __future__ import annotations

import re
from typing import ClassVar

from kb import lazy
from troubleshooter.observe.model import Exit
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line

MAX_EXITS = 1000
"""At most this many exits of one run are kept."""

SIGNALS = {
    "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9,
    "SIGUSR1": 10, "SIGSEGV": 11, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15, "SIGXCPU": 24,
}  # fmt: skip
_NUMBERED = lazy.compile(
    r"(?:exitcode|exit code|exit status|return code|returncode|exits? with code|exited with(?: exit)?(?: status| code)?|Exit code|code"
    r"|non-zero status)\s{0,6}[:=]?\s{0,4}(?P<status>-?\d{1,3})\b|^\[\d+\][-+ ]\s{1,4}Exit (?P<job>\d{1,3})\b|^make(?:\[\d+\])?: \*\*\* .{0,200}\bError (?P<made>\d{1,3})$",
    re.IGNORECASE,
)
_SIGNAL = lazy.compile(r"\b(?P<name>SIG[A-Z]{3,4}1?)\b")
_SIGNAL_NUMBER = lazy.compile(
    r"(?:terminated|killed|died|exited|caught|received)\D{0,40}signal:?\s\(?(?P<number>\d{1,2})\b", re.IGNORECASE
)
_WORDS = (
    (lazy.compile(r"(?:^|[:\s])Killed(?:\s|$|\s*[:/])"), -9),
    (lazy.compile(r"Out [Oo]f [Mm]emory: Killed process|oom[-_]kill|OOM[- ]killed|OOMKilled|oom_kill event"), -9),
    (lazy.compile(r"Bus error"), -7),
    (lazy.compile(r"Segmentation fault|segfault at"), -11),
    (lazy.compile(r"(?:^|\s)Aborted(?: \(core dumped\)|$)"), -6),
    (lazy.compile(r"Illegal instruction"), -4),
)
_ABOUT = lazy.compile(
    r"(?i)exit|SIG[A-Z]{3}|signal|killed|bus error|segmentation|segfault|aborted|illegal instr|oom|returned non-zero|^make.{0,10}: \*\*\*"
)
_KEYWORDS = (
    "exit", "sighup", "sigint", "sigquit", "sigill", "sigtrap", "sigabrt", "sigbus", "sigfpe", "sigkill", "sigsegv", "sigpipe",
    "sigterm", "sigxcpu", "sigusr1", "sigalrm", "signal", "killed", "bus error", "segmentation", "segfault", "aborted",
    "illegal instr", "oom", "returned non-zero", "return code", "returncode", ": *** [",
)  # fmt: skip
"""Every line that reports the status with which a process ended has one of these."""
_RANK = lazy.compile(r"(?:local_rank|rank)\s*:\s*(?P<rank>\d{1,5})")


def status(text: str) -> int | None:
    """The exit status that a line reports, negative for a signal; None if it reports none."""
    if not _ABOUT.search(text) or "exit code: 0" in text:
        return None
    if found := _SIGNAL.search(text):
        number = SIGNALS.get(found["name"])
        if number is not None and "closing signal" not in text and "handler" not in text:
            return -number
    if "closing signal" in text:
        return None
    if found := _SIGNAL_NUMBER.search(text):
        return -int(found["number"])
    for pattern, value in _WORDS:
        if pattern.search(text):
            return value
    if found := _NUMBERED.search(text):
        value = int(found["status"] or found["job"] or found["made"])
        return 128 - value if 128 < value < 160 else value or None
    return None


class ExitReader:
    """Records the exits that lines report."""

    keywords: ClassVar[tuple[str, ...]] = _KEYWORDS
    reads_metric_lines: ClassVar[bool] = False

    def __init__(self, observations: Observations) -> None:
        self._exits = observations.exits

    def read(self, line: Line) -> None:
        """Take the exit that a line reports, if it reports one."""
        if len(self._exits) < MAX_EXITS and (value := status(line.text)) is not None:
            rank = _RANK.search(line.text)
            self._exits.append(Exit(value, line, int(rank["rank"]) if rank else line.rank))
