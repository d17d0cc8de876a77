"""Watch the metrics of a run, and report once that its results are lost, and since which step."""

from __future__ import annotations

import os
from typing import NamedTuple

from kb.text.catalog import Section
from troubleshooter.observe.metrics import MetricReader
from troubleshooter.observe.model import Point, finite
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line
from troubleshooter.read.prefix import strip_prefix
from troubleshooter.read.text import texts

say = Section("run")
BYTES_A_TICK = 1 << 18
"""At most this many new bytes are read at once, the last ones, so that watching stays cheap."""
LONGEST_LINE = 1 << 14
TOLD_RECORDS = 3
"""The metrics fail if this many records in a row do. A loss scaler skips one bad step, but not three."""
LOST_RECORDS = 6
"""After this many failing records in a row, nothing can restore the weights."""
_LOSS, _GRADIENT = "loss", "grad_norm"


class Failing(NamedTuple):
    """What fails, in words of the catalogue: ``kind``. ``now`` and ``since``: the last and the first point that show it."""

    kind: str
    now: Point
    since: Point
    records: int

    def told(self, lang: str) -> str:
        return say(
            "metrics", lang, now=_place(self.now, lang), what=say(self.kind, lang), since=_place(self.since, lang)
        )


class Watch:
    """Reads the log as it grows."""

    def __init__(self, log: int) -> None:
        self._log = log
        self._place = 0
        self._part = b""
        self._seen = Observations()
        self._reader = MetricReader(self._seen)
        self._number = 0

    def look(self) -> Failing | None:
        """Read the new part of the log. Returns what fails now, or None."""
        end = os.fstat(self._log).st_size
        if end <= self._place:
            return None
        if end - self._place > BYTES_A_TICK:
            self._place, self._part = end - BYTES_A_TICK, b""
        data = self._part + os.pread(self._log, end - self._place, self._place)
        self._place = end
        *lines, self._part = data.split(b"\n")
        if len(self._part) > LONGEST_LINE:
            self._part = b""
        for raw in lines:
            if len(raw) <= LONGEST_LINE:
                self._read(raw)
        return failing(self._seen)

    def _read(self, raw: bytes) -> None:
        self._number += 1
        lowered = raw.lower()
        if not self._reader.is_open and not any(key in lowered for key in _KEYS):
            return
        for text in texts(raw.rstrip(b"\r")):
            rest, stream, rank, stamped = strip_prefix(text)
            self._reader.read(Line(rest, self._number, stream, rank, 0, stamped))


_KEYS = tuple(key.encode() for key in MetricReader.keywords)


def failing(seen: Observations) -> Failing | None:
    """A failure in the last records of metrics from which no run recovers, or None."""
    losses = seen.metrics.get(_LOSS, [])
    gradients = {point.record: point.value for point in seen.metrics.get(_GRADIENT, [])}
    if not losses:
        return None
    kind = _kind(losses[-1], gradients)
    if kind is None:
        return None
    first = len(losses)
    while first and _kind(losses[first - 1], gradients) == kind:
        first -= 1
    records = len(losses) - first
    return Failing(kind, losses[-1], losses[first], records) if records >= TOLD_RECORDS else None


def _kind(loss: Point, gradients: dict[int, float]) -> str | None:
    if not finite(loss.value):
        return "loss-not-finite"
    gradient = gradients.get(loss.record, 0.0)
    return "loss-zero-gradient-nan" if loss.value == 0 and gradient != gradient else None


def _place(point: Point, lang: str) -> str:
    if point.step is not None:
        return say("step", lang, step=f"{point.step:g}")
    return say("record", lang, record=point.record)
