"""Close connections that send nothing or half a request, so that they never shut others out.

uvicorn bounds only the time between two requests: a connection that never completes a request would stay for ever. Its
``limit_concurrency`` counts such connections, so that a few of them would have everybody refused.
"""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""The head of a request must have arrived within this many seconds."""
CONNECTIONS = 256
"""With more connections than this, the one that has been silent longest is closed."""


class Patient(H11Protocol):
    """One connection, with a time limit for silence."""

    header_seconds = HEADER_SECONDS
    most = CONNECTIONS

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._late: asyncio.TimerHandle | None = None
        self._since = 0.0

    @property
    def silent(self) -> bool:
        """True while the connection waits for a request or for the rest of its head."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > self.most:
            others = [c for c in self.connections if isinstance(c, Patient) and c.silent and c is not self]
            min(others, key=lambda c: c._since, default=self)._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Start the timer when silence begins, stop it when a request is served. Single bytes do not restart it."""
        if not self.silent:
            self._unwatch()
        elif self._late is None and not self.transport.is_closing():
            self._since = self.loop.time()
            self._late = self.loop.call_later(self.header_seconds, self._give_up)

    def _unwatch(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._unwatch()
        if not self.transport.is_closing():
            self.transport.close()


def server(app: Any, protocol: type[Patient] = Patient) -> uvicorn.Server:
    """A server for an ASGI application. ``protocol``: the class of its connections."""
    return uvicorn.Server(
        uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, proxy_headers=False, lifespan="off", ws="none",
            http=protocol, loop="asyncio", timeout_keep_alive=5, timeout_graceful_shutdown=1,
        )
    )  # fmt: skip
