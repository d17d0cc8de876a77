"""Where failures are told: the terminal, a file, a webhook. A sink that cannot take an event now gets it again later."""

from __future__ import annotations

import http.client
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from kb.errors import UsageError
from troubleshooter.report.jsontext import as_json

TIMEOUT_S = 10.0
FIRST_WAIT_S, MOST_WAIT_S = 2.0, 300.0
_WRONG_EVENT = (400, 413, 415, 422)
"""A receiver that says so will not take this event later either."""


class SinkBusy(Exception):
    """A sink that cannot take an event now. ``wait_s``: after how long it asks to be tried again, where it says so."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class EventRefused(Exception):
    """A sink that will never take this event."""


class Sink(Protocol):
    """``name`` is its name in the queue."""

    name: str

    def send(self, event: dict[str, Any]) -> None:
        """Tell a failure. Raises `SinkBusy` or `EventRefused`."""


class TerminalSink:
    """A line on standard output: the event's text, or with ``as_lines_of_json`` the event."""

    name = "terminal"

    def __init__(self, as_lines_of_json: bool = False) -> None:
        self._json = as_lines_of_json

    def send(self, event: dict[str, Any]) -> None:
        print(as_json(event) if self._json else f"{event['time']}  {event['text']}", flush=True)


class FileSink:
    """JSON Lines that are appended to ``path``. An event that its last line holds already is not added again, and a line that
    was cut is completed: so a kill between writing and noting it doubles nothing."""

    name = "file"

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, event: dict[str, Any]) -> None:
        line = as_json(event).encode() + b"\n"
        try:
            with open(self._path, "a+b") as file:
                end = file.seek(0, os.SEEK_END)
                start = max(0, end - len(line) - 1)
                file.seek(start)
                tail = file.read()
                if tail.endswith(line) and (len(tail) == len(line) or tail[-len(line) - 1 : -len(line)] == b"\n"):
                    return
                cut = tail.rpartition(b"\n")[2]
                if cut and line.startswith(cut):
                    file.truncate(end - len(cut))
                elif cut:
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SinkBusy(f"{self._path}: {error.strerror}") from error


class WebhookSink:
    """POST with JSON to ``url``, which is never printed or kept: who knows it can write to the chat."""

    name = "webhook"

    def __init__(self, url: str, opened: Callable[..., Any] | None = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError("--webhook: expected a URL that begins with https:// or http://")
        self._url = url
        self._host = parts.hostname
        self._open = opened or urllib.request.build_opener(_NoRedirects).open

    def send(self, event: dict[str, Any]) -> None:
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "Idempotency-Key": event["id"],
            "User-Agent": "troubleshoot",
        }
        request = urllib.request.Request(self._url, as_json(event).encode(), headers, method="POST")
        try:
            with self._open(request, timeout=TIMEOUT_S) as answer:
                answer.read(1024)
        except urllib.error.HTTPError as error:
            said = f"{self._host} answered {error.code} {error.reason}"
            if error.code in _WRONG_EVENT:
                raise EventRefused(said) from error
            asked = error.headers.get("Retry-After", "") if error.headers else ""
            raise SinkBusy(said, float(asked) if asked.isdigit() else None) from error
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise SinkBusy(f"{self._host}: {why}") from error


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would turn a POST into a GET that nobody reads: it is an error."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def wait_s(tries: int, asked_s: float | None = None) -> float:
    """How long to wait after so many tries in a row that failed."""
    return min(MOST_WAIT_S, max(asked_s or 0.0, FIRST_WAIT_S * 2.0 ** min(tries, 20)))


def say(text: str) -> None:
    """One line on standard error."""
    print(f"troubleshoot watch: {text}", file=sys.stderr, flush=True)
