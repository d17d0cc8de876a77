"""Waiting for what a test can see. No sleeping in the hope that it has happened by then, no bound on how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 60
"""After which a state that a test waits for is taken never to come: the end of a hang, not a measure of speed."""
_STEP_SECONDS = 0.01


def wait_for(state: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Return when ``state`` is true. Raises AssertionError if it does not become true in so many seconds."""
    deadline = time.monotonic() + seconds
    while not state():
        assert time.monotonic() < deadline, "the state that the test waits for did not come"
        time.sleep(_STEP_SECONDS)
