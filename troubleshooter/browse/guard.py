"""Checks on every request, and security headers on every answer.

A page of another site can make a browser send requests to this machine. With DNS rebinding the Host header names that
site; with a form the Origin header does. Both are refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kb.pages.render import POLICY

HEADERS = {
    "content-security-policy": f"{POLICY}; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Other hosts get no referrer. "no-referrer" would also remove the Origin header from our own form's request.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class RequestGuard:
    """ASGI middleware that checks Host and Origin and sets `HEADERS` on every answer, including errors."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], any_address: bool = False) -> None:
        """``hosts``: the Host headers to accept; ``any_address``: also accept every IP address (the server listens on all)."""
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                # By default nothing may be stored, as an answer contains the log.
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self.refusal(scope["method"], Headers(scope=scope))
        if refused is not None:
            await PlainTextResponse(refused[1] + "\n", status_code=refused[0])(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """The status and reason of a refusal, or None if the request may pass."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._ours(hosts[0].lower()):
            return 421, "This server answers only to its own address; open the one that troubleshoot printed."
        if method in ("GET", "HEAD"):
            return None
        if method != "POST":
            return 405, "Only GET, HEAD and POST."
        origin = headers.get("origin")
        if origin is not None:
            same = origin.lower() == f"http://{hosts[0].lower()}"
        else:
            same = headers.get("sec-fetch-site") == "same-origin"
        return None if same else (403, "A log is taken only from our own page, not from another site.")

    def _ours(self, host: str) -> bool:
        if host in self.hosts:
            return True
        if not self.any_address:
            return False
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True
