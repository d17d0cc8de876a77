"""``troubleshoot watch FOLDER|URL``: failures are told as they happen."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from kb.cache import packs
from kb.errors import UsageError
from kb.text.catalog import Section
from troubleshooter.cli.settings import ignored
from troubleshooter.scan.command import cores, places_of
from troubleshooter.scan.places.names import is_archive, scheme_of
from troubleshooter.scan.watch.sinks import FileSink, Sink, TerminalSink, WebhookSink, say
from troubleshooter.scan.watch.state import WatchState
from troubleshooter.scan.watch.watching import LogWatch
from troubleshooter.scan.worker import WorkerSetup
from troubleshooter.scan.workers import Workers
from troubleshooter.signals import Signals

_phrase = Section("watch")
STATE = "troubleshoot-watch.sqlite"
WEBHOOK = "TROUBLESHOOT_WEBHOOK"
"""The variable that names the webhook where ``--webhook`` does not: a command line can be read by every user of a machine."""


def watch(
    paths: Sequence[str], *, to: Path | None, webhook: str | None, state_file: Path | None, every: float, once: bool,
    from_now: bool, workers: int | None, entries: Sequence[Path], ignore: Sequence[str], lang: str, format: str,
) -> int:  # fmt: skip
    """Watch until a signal comes, or look once. Exit status: 0, or with ``once`` 1 for a new failure and 3 for new unknown ones."""
    for path in paths:
        if is_archive(path) and (scheme_of(path) is not None or os.path.isfile(path)):
            raise UsageError(f"{path}: an archive does not grow; use troubleshoot scan")
    sinks: list[Sink] = [TerminalSink(format == "json")]
    if to is not None:
        sinks.append(FileSink(to))
    if url := webhook or os.environ.get(WEBHOOK):
        sinks.append(WebhookSink(url))
    signals = Signals()
    state = WatchState(state_file or Path(STATE))
    told = known = unknown = 0
    watching: LogWatch | None = None
    try:
        reasons = ignored(ignore, packs(*entries))
        setup = WorkerSetup(tuple(map(str, entries)), reasons)
        with signals.caught(), places_of(paths) as places, Workers(workers or cores(), setup) as processes:
            watching = LogWatch(paths, state, sinks, processes, places, lang=lang, shield=signals.shield)
            if from_now and state.is_new:
                watching.pass_over()
            watching.deliver()
            while True:
                known, unknown = watching.look(at_once=once)
                told += known + unknown
                watching.deliver()
                if once:
                    break
                time.sleep(every)
    except KeyboardInterrupt:
        say(_phrase("ended", lang, count=told))
    finally:
        if watching is not None:
            for name, count in watching.waiting().items():
                say(_phrase("waiting", lang, count=count, sink=name))
        state.close()
    return (1 if known else 3 if unknown else 0) if once else 0
