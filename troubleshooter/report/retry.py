"""Whether to run the same command again, with the reason: the decision of a queue, a wrapper or a person who was paged.

An entry says whether its failure may go away by itself; for a crash that does not, "the same crash comes again" is the decision, whatever
has to be done about it. Of failures that no entry knows, what was raised decides: exceptions of the network, the hardware or a stopped
process may help, other exceptions are raised by code that does the same again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kb import lazy
from kb.text.catalog import Section

if TYPE_CHECKING:
    from troubleshooter.report.model import Diagnosis
    from troubleshooter.report.parts import Retry, RetryDecision, RetryReason, Stopped, Unexplained

EXITS: Final[dict[str | None, int]] = {None: 0, "may-help": 10, "after-fix": 11, "useless": 12}
"""Exit statuses of ``--exit-by retry``, by decision."""
UNDECIDED = 3
"""That of a failure of which nothing tells whether it comes again."""
WORST_LAST: Final = (0, 10, 3, 11, 12)
"""The statuses in the order in which that of several logs is chosen: all must allow a retry."""
_say = Section("retry")

_HARDWARE = lazy.compile(
    r"(?i)\buncorrectable\b|\bECC error|\bXid\b|\bdevice lost\b|fallen off the bus|unspecified launch failure|\bSIGBUS\b|\bbus error\b|"
    r"\bgpu (?:is|has) (?:lost|fallen)|nvlink (?:error|failure)|\binput/output error\b|\bErrno 5\b|hardware error"
)
_NETWORK = lazy.compile(
    r"(?i)\btimed out\b|\btime-?out (?:error|expired|exceeded|after|while|waiting|occurred)|\b(?:read|connect|request|gateway) time-?out\b|connection (?:reset|refused|aborted|closed|error|lost)|\breset by peer\b|temporary failure in name resolution|"
    r"name or service not known|network is unreachable|too many requests|\b(?:429|500|502|503|504) (?:client|server|bad|service|gateway|internal|too)|"
    r"service unavailable|bad gateway|remote end closed|stale file handle|incomplete ?read|\bbroken pipe\b|clients joined|\bunavailable: "
)
_NETWORK_TYPES = (
    "ConnectionError", "ConnectTimeout", "ReadTimeout", "TimeoutError", "Timeout", "ConnectionResetError", "ConnectionRefusedError",
    "BrokenPipeError", "DistStoreError", "DistNetworkError", "ProtocolError", "IncompleteRead", "ChunkedEncodingError", "NewConnectionError",
    "MaxRetryError", "ServerDisconnectedError", "ConnectTimeoutError", "ReadTimeoutError", "RemoteDisconnected", "RemoteProtocolError",
)  # fmt: skip
_PREEMPTED = lazy.compile(r"(?i)\bpreempt|\bspot (?:instance|interruption)|node_fail|\bevicted\b|due to time limit")
_RACE = lazy.compile(
    r"(?i)already borrowed|resource temporarily unavailable|lock (?:is )?held|another process (?:is|has)"
)
_NATIVE = ("SIGSEGV", "SIGKILL", "SIGABRT", "Segmentation fault")
_FROM_OUTSIDE = ("SIGTERM", "SIGHUP")


def decide(diagnoses: Sequence[Diagnosis], unexplained: Unexplained | None, stopped: Stopped | None) -> RetryDecision:
    """The decision on these parts of a report."""
    failures = [found for found in diagnoses if found.kind == "failure"]
    if failures:
        return _of_entry(failures[0])
    if unexplained is not None:
        return _of_unknown(unexplained["exception"], unexplained["message"])
    if stopped is not None:
        if stopped["by"] in _FROM_OUTSIDE:
            return _decision("may-help", "preemption")
        return _decision(None, "stopped-by-user")
    return _decision(None, "no-failure")


def status(decision: RetryDecision) -> int:
    """The exit status of ``--exit-by retry``."""
    if decision["reason"] in ("unknown", "stopped-by-user"):
        return UNDECIDED
    return EXITS[decision["decision"]]


def told(decision: RetryDecision, lang: str) -> str:
    """The decision and its reason as one sentence."""
    what = _say(decision["decision"] or "undecided", lang)
    return f"{what}: {_say(decision['reason'], lang)}" + (f" ({decision['entry']})" if decision["entry"] else "")


def _of_entry(found: Diagnosis) -> RetryDecision:
    if found.retry == "may-help":
        return _decision("may-help", _kind(f"{found.id} {found.title}") or "passes", found.id)
    if found.severity == "crash":
        return _decision("useless", "same-crash", found.id)
    return _decision("after-fix", "same-result", found.id)


def _of_unknown(exception: str, message: str) -> RetryDecision:
    if (kind := _kind(f"{exception}: {message}")) is not None:
        return _decision("may-help", kind)
    name = exception.rpartition(".")[2]
    if name in _NETWORK_TYPES:
        return _decision("may-help", "network")
    if not exception or name.startswith(_NATIVE):
        return _decision(None, "unknown")
    return _decision("useless", "same-code")


def _kind(text: str) -> RetryReason | None:
    """Which passing trouble a text names."""
    if _PREEMPTED.search(text):
        return "preemption"
    if _HARDWARE.search(text):
        return "hardware"
    if _RACE.search(text):
        return "race"
    return "network" if _NETWORK.search(text) else None


def _decision(decision: Retry | None, reason: RetryReason, entry: str | None = None) -> RetryDecision:
    return {"decision": decision, "reason": reason, "entry": entry}
