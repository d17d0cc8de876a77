"""What every request must show before it reaches a page, and what every answer says to the browser.

A page of another site can make a browser send requests to this machine: by name (DNS rebinding: the Host header is then
that site's) or by a form (the Origin header is).
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
    # Nothing to other hosts; "no-referrer" would also blank the Origin of our own form's post.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class RequestGuard:
    """ASGI middleware: Host and Origin are checked, headers are set on every answer, errors included."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], any_address: bool = False) -> None:
        """``hosts``: the Host headers that are ours; ``any_address``: also every IP address (a server on all of them)."""
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
                # What says nothing of it may not be kept: an answer holds the log.
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self.refusal(scope["method"], Headers(scope=scope))
        if refused is not None:
            await PlainTextResponse(refused[1] + "\n", status_code=refused[0])(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """Status and reason, or None where the request may pass."""
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
