"""How processes ended, and which exceptions are after-effects of that: launchers, schedulers, shells, signals."""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.observe.model import Exit, Failure, Observations, Role
from troubleshooter.read.line import Line

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
EXIT_MARKS = (
    "exit", "sighup", "sigint", "sigquit", "sigill", "sigtrap", "sigabrt", "sigbus", "sigfpe", "sigkill", "sigsegv", "sigpipe",
    "sigterm", "sigxcpu", "sigusr1", "sigalrm", "signal", "killed", "bus error", "segmentation", "segfault", "aborted",
    "illegal instr", "oom", "returned non-zero", "return code", "returncode", ": *** [",
)  # fmt: skip
"""One of these stands in every line that reports with what status a process ended."""
WELL_MARKS = (
    "train_runtime", "0 failed", " passed", "exit", "training completed", "training succeeded", "successfully ",
    "completed successfully", "build succeeded",
)  # fmt: skip
"""One of these stands in every line that says that something ended well."""

_RANK = lazy.compile(r"(?:local_rank|rank)\s*:\s*(?P<rank>\d{1,5})")

# Exceptions that only report that another process failed.
CASCADES = frozenset(
    {
        "ChildFailedError", "ProcessExitedException", "ProcessRaisedException", "CalledProcessError", "SignalException",
        "RayActorError", "ActorDiedError", "WorkerCrashedError", "BrokenProcessPool", "NodeDiedError",
    }
)  # fmt: skip
_CASCADE_TEXTS = (
    "Caught collective operation timeout", "Some NCCL operations have failed or timed out", "remote process exited",
    "Connection closed by peer", "Connection closed by remote peer", "Broken pipe", "Connection reset by peer",
    "cuda error: unspecified launch failure after",
)  # fmt: skip


def status(text: str) -> int | None:
    """The exit status that a line reports, negative for a signal; None when it reports none."""
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


# Looked for word by word: one expression of them all takes twice as long on a line that only says "passed" (8 and 4 µs).
_WELL = (
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


def well(text: str) -> bool:
    """Whether a line says that a run, or a step of it, ended well."""
    if " failed," in text or "abort before" in text:  # Open MPI: one before MPI_INIT "completed successfully"
        return False
    for word, pattern in _WELL:  # noqa: SIM110 (no generator here: this runs for many lines of every log)
        if word in text and (pattern is None or pattern.search(text)):
            return True
    return False


_INSTALLED = lazy.compile(r"[Ss]uccessfully (?:built|installed) ")


def installed(text: str) -> bool:
    """Whether a line says that packages were built or installed, which says nothing of a run."""
    return "uccessfully " in text and _INSTALLED.search(text) is not None


def read(line: Line, observations: Observations) -> None:
    """Record the exit that a line reports."""
    if len(observations.exits) < 1000 and (value := status(line.text)) is not None:
        rank = _RANK.search(line.text)
        observations.exits.append(Exit(value, line, int(rank["rank"]) if rank else line.rank))


def role(failure: Failure) -> Role:
    """Initiating, or the after-effect of another process's failure."""
    if failure.role == "teardown":
        return failure.role
    if failure.type in CASCADES or failure.type == "KeyboardInterrupt":
        return "cascade"
    if any(text in failure.message for text in _CASCADE_TEXTS):
        return "cascade"
    return "initiating"
