"""How a diagnosis, a scan and a supervised run are put into a history."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from kb.text.catalog import Section
from troubleshooter.history.details import Ends, details
from troubleshooter.history.run_record import RunRecord, job_of, of_outcome, of_report
from troubleshooter.history.store import History, HistoryError
from troubleshooter.read.sources import Source
from troubleshooter.report.model import Report

say = Section("history")
ROWS_AT_ONCE = 500


def of_diagnosis(report: Report, sources: Sequence[Source], ends: Sequence[Ends]) -> RunRecord:
    """The record of a diagnosed log, or of the folder of one run. ``ends`` were kept while it was read."""
    paths = [source.path for source in sources if source.path is not None and not source.facts]
    told = details(ends, time.time())
    if not paths:
        return of_report(report, told, log=None)
    states = []
    for path in paths:
        with suppress(OSError):
            states.append(path.stat())
    log = os.path.commonpath([os.path.abspath(path) for path in paths])
    stamp = ";".join(f"{state.st_size}:{state.st_mtime_ns}" for state in states)
    modified = max((state.st_mtime for state in states), default=None)
    return of_report(report, told, log=log, stamp=stamp, modified=modified)


def of_rows(lines: Iterable[bytes]) -> Iterator[RunRecord]:
    """The records of rows of a scan (`scan.record`). Jobs that could not be read are none, nor are lines that are no rows."""
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and not row.get("error") and (record := _of_row(row)) is not None:
            yield record


def _of_row(row: dict[str, Any]) -> RunRecord | None:
    try:
        facts = {"bytes": sum(int(part.split(":")[0]) for part in row["stamp"].split(";")), **row.get("run", {})}
        return of_outcome(
            row,
            facts,
            log=os.path.abspath(row["job"]),
            stamp=row["stamp"],
            job=job_of(row["job"]),
            modified=row["modified"],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def add_rows(history: History, lines: Iterable[bytes]) -> None:
    """Put rows of a scan's record into the history, `ROWS_AT_ONCE` in each transaction."""
    rows = iter(lines)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        history.add(of_rows(some))


def keep(path: Path, runs: Sequence[RunRecord], lang: str) -> bool:
    """Put runs that were diagnosed into a history; whether it took them. What is wrong is said on standard error: the
    diagnosis stands whatever happens here."""
    try:
        with History(path) as history:
            history.add(runs)
    except HistoryError as error:
        from troubleshooter.report.fill import safe

        with suppress(OSError):
            print(f"troubleshoot: {say('not-recorded', lang)}: {safe(str(error))}", file=sys.stderr)
        return False
    return True
