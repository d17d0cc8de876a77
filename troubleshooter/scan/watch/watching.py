"""The watch itself: look, diagnose what changed, tell what failed, wait."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from kb.text.catalog import Section
from troubleshooter.printable import printable
from troubleshooter.scan import jobs
from troubleshooter.scan.job_list import Job, JobList
from troubleshooter.scan.places.opening import LogPlaces
from troubleshooter.scan.shards import shards
from troubleshooter.scan.watch.events import event_of
from troubleshooter.scan.watch.sinks import EventRefused, Sink, SinkBusy, say, wait_s
from troubleshooter.scan.watch.state import WatchState
from troubleshooter.scan.workers import Workers

_phrase = Section("watch")
GROWING_PASSES = 6
"""A log that grows without a pause is diagnosed in every so many passes."""


class Told(NamedTuple):
    """How many failures a pass found that were not told before."""

    known: int
    unknown: int


class LogWatch:
    """``shield`` holds a signal back while an event is sent and noted as sent."""

    def __init__(
        self, paths: Sequence[str], state: WatchState, sinks: Sequence[Sink], workers: Workers, places: LogPlaces | None, *,
        lang: str, shield: Callable[[], AbstractContextManager[None]],
    ) -> None:  # fmt: skip
        self._paths = paths
        self._state = state
        self._sinks = sinks
        self._workers = workers
        self._places = places
        self._lang = lang
        self._shield = shield
        self._growing: dict[str, tuple[str, int]] = {}  # by job: its stamp, and for how many passes it has changed
        self._skipped: set[jobs.Skipped] = set()

    def pass_over(self) -> None:
        """Take all logs that there are as told."""
        self._state.note(self._found())

    def look(self, at_once: bool) -> Told:
        """One pass over all logs. A log that changed is diagnosed when it has been quiet since the last pass, or grown for
        `GROWING_PASSES`; ``at_once``: now."""
        todo = [job for job in self._found() if self._is_due(job, at_once)]
        known = unknown = 0
        by_name = {job.name: job for job in todo}
        sinks = tuple(sink.name for sink in self._sinks)
        for lines in self._workers.rows(shards(todo, len(todo), 1)):
            for line in lines:
                row = json.loads(line)
                job = by_name[row["job"]]
                event = event_of(job, line, self._lang)
                if row.get("error"):
                    say(printable(row["error"]))
                    if row.get("again"):
                        continue
                if self._state.take(job, event, sinks) and event is not None:
                    known, unknown = known + event["known"], unknown + (not event["known"])
        return Told(known, unknown)

    def deliver(self) -> None:
        """Give each sink what waits for it, oldest first, until it is busy."""
        for sink in self._sinks:
            while (queued := self._state.first(sink.name)) is not None and queued.not_before <= time.time():
                with self._shield():
                    try:
                        sink.send(queued.event)
                    except SinkBusy as busy:
                        self._state.later(queued.number, time.time() + wait_s(queued.tries, busy.wait_s))
                        if not queued.tries:
                            say(_phrase("busy", self._lang, reason=printable(str(busy))))
                        break
                    except EventRefused as refused:
                        text = printable(queued.event["text"])
                        say(_phrase("dropped", self._lang, reason=printable(str(refused)), text=text))
                    self._state.taken(queued.number)

    def waiting(self) -> dict[str, int]:
        """By sink: how many reports it has not taken, where there are any."""
        return {sink.name: count for sink in self._sinks if (count := self._state.waiting(sink.name))}

    def _found(self) -> JobList:
        found, skipped = jobs.find(self._paths, self._places)
        for skip in sorted(set(skipped) - self._skipped):
            say(printable(f"{skip.path}: {skip.reason}"))
        self._skipped = set(skipped)
        return found

    def _is_due(self, job: Job, at_once: bool) -> bool:
        if self._state.stamp(job.name) == job.stamp:
            self._growing.pop(job.name, None)
            return False
        stamp, passes = self._growing.get(job.name, ("", 0))
        if at_once or stamp == job.stamp or passes >= GROWING_PASSES:
            self._growing.pop(job.name, None)
            return True
        self._growing[job.name] = job.stamp, passes + 1
        return False
