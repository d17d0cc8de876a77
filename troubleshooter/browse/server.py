"""Bind to a port of this machine and serve until Ctrl-C."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import threading
import webbrowser
from typing import Any

from kb.errors import TroubleshootError

LOOPBACK = "127.0.0.1"
PORT = 8765
TRIES = 20
"""How many ports after the wanted one ``--next-port`` tries."""


class Unbound(TroubleshootError):
    """The address cannot be used. The message is one sentence with the address and the next step."""


def bind(host: str, port: int, next_port: bool) -> socket.socket:
    """A listening socket on the port, or with ``next_port`` on the first free one from there on. Raises `Unbound`."""
    last = port + TRIES if next_port and port else port
    for wanted in range(port, min(last, 65535) + 1):
        try:
            return _bound(host, wanted)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise Unbound(f"cannot listen on {host}:{wanted}: {error.strerror or error}") from error
            if error.errno == errno.EACCES and os.name != "nt":
                raise Unbound(f"port {wanted} needs more rights; use one above 1023: --port {PORT}") from error
    if next_port:
        raise Unbound(f"ports {port} to {last} are in use; choose another one with --port")
    raise Unbound(f"port {port} is in use; use --next-port to take the next free one, or choose one: --port {port + 1}")


def _bound(host: str, port: int) -> socket.socket:
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind)
    try:
        if os.name == "nt":
            made.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", -5), 1)
        else:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(64)
    except OSError:
        made.close()
        raise
    return made


def own_hosts(host: str, port: int) -> tuple[list[str], bool]:
    """The Host headers that name this server, and True if every IP address does (because it listens on all of them)."""
    names = ["127.0.0.1", "localhost", "[::1]"]
    everywhere = False
    try:
        address = ipaddress.ip_address(host)
        everywhere = address.is_unspecified
        if not everywhere:
            names.append(f"[{host}]" if address.version == 6 else host)
    except ValueError:
        names.append(host)
    if everywhere:
        names.append(socket.gethostname())
    with_port = [f"{name}:{port}" for name in names]
    return with_port + (names if port == 80 else []), everywhere


def loopback(host: str) -> bool:
    """True if only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(app: Any, listening: socket.socket, open_at: str | None) -> None:
    """Serve until interrupted. ``open_at``: the page to open in the user's browser, or None."""
    from troubleshooter.browse.patient import server

    if open_at is not None:
        timer = threading.Timer(0.3, webbrowser.open, (open_at,))
        timer.daemon = True
        timer.start()
    server(app).run(sockets=[listening])
