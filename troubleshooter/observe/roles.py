"""Whether an exception began a failure, or followed from the failure of another process."""

from __future__ import annotations

from troubleshooter.observe.model import Failure, Role

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
    "Connection was likely closed. Did the remote server shutdown or crash", "failed to recv, got 0 bytes",
    "cuda error: unspecified launch failure after",
)  # fmt: skip


def role_of(failure: Failure) -> Role:
    """Returns "initiating" or, for the after-effect of another process's failure, "cascade"."""
    if failure.role == "teardown":
        return failure.role
    if failure.type in CASCADES or failure.type == "KeyboardInterrupt":
        return "cascade"
    if any(text in failure.message for text in _CASCADE_TEXTS):
        return "cascade"
    return "initiating"
