"""The pages of a history: what fails, time lines, hosts, growing unknown failures, and each run."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from kb.errors import UsageError
from kb.pages.render import Pages
from kb.text.catalog import Section
from troubleshooter.history.asking import Narrowed, Row, day, when
from troubleshooter.history.causes import daily
from troubleshooter.history.counting import cause_of
from troubleshooter.history.questions import ask
from troubleshooter.history.runs import run
from troubleshooter.history.show import COLUMNS, cell
from troubleshooter.history.store import SECONDS_A_DAY, History

SHOWN_ROWS = 15
LINE_DAYS = 90
"""Days of a time line, where no other time is asked for."""
MOST_LINE_DAYS = 730
BAR_PX, HEIGHT_PX = 8, 80
"""Width of a day's bar and height of a time line, in units of the drawing."""
MAX_VALUE = 300
"""Characters of a filter's value that are used."""
say = Section("history")


class HistoryPages:
    """Pages of one history, in the layout of the others. The file is opened for each page: runs are added meanwhile."""

    def __init__(self, pages: Pages, path: Path) -> None:
        self._pages = pages
        self._path = path

    def overview(self, lang: str, cause: str, host: str, since: str) -> str:
        """The page of questions. Raises `HistoryError`."""
        cause, host, since = (value.strip()[:MAX_VALUE] for value in (cause, host, since))
        note = ""
        with History(self._path, create=False) as history:
            try:
                asked = Narrowed(
                    cause=cause or None, host=host or None, since=when(since) if since else None, limit=SHOWN_ROWS
                )
                runs = ask(history, "runs", asked).rows
                number = cause_of(history, cause) if cause else None
            except UsageError as error:  # what the user typed
                note, runs, number, asked = str(error), [], None, Narrowed(limit=SHOWN_ROWS)
            tables = [
                _table(
                    question,
                    ask(history, question, asked._replace(cause=None) if question == "failures" else asked).rows,
                    lang,
                )
                for question in ("failures", "hosts", "versions", "unknown")
            ]
            lines = _time_line(history, number, asked)
        return self._show(
            "history.html",
            lang,
            "history/index.html",
            tables=tables,
            runs=runs,
            line=lines,
            cause=cause,
            host=host,
            since=since,
            note=note,
        )

    def run(self, number: int, lang: str) -> str | None:
        """The page of one run; None where there is none. Raises `HistoryError`."""
        with History(self._path, create=False) as history:
            found = run(history, number)
        return None if found is None else self._show("run.html", lang, f"history/run-{number}.html", run=found)

    def _show(self, template: str, lang: str, name: str, **values: Any) -> str:
        return self._pages.show(template, lang, name, word=partial(_word, lang), **values)


def _word(lang: str, key: str, **values: object) -> str:
    return say(key, lang, **values)


def _table(question: str, rows: list[Row], lang: str) -> dict[str, Any]:
    names = COLUMNS[question]
    return {
        "question": question, "heads": [say(f"column-{name}", lang) for name in names],
        "rows": [{"cells": [(name, cell(name, row, lang)) for name in names], "cause": row.get("cause"), "host": row.get("host")} for row in rows],
    }  # fmt: skip


def _time_line(history: History, cause: int | None, asked: Narrowed) -> dict[str, Any]:
    """Runs and failures by day as bars: what an SVG needs, in its units."""
    newest = history.rows("SELECT max(day) FROM runs")[0][0]
    last = newest if newest is not None else int(time.time() // SECONDS_A_DAY)
    first = int(asked.since // SECONDS_A_DAY) if asked.since is not None else last - LINE_DAYS + 1
    first = min(max(first, last - MOST_LINE_DAYS + 1), last)
    found = daily(history, cause, first, last)
    if cause is not None:  # one failure among all runs would be too low to be seen
        found = {number: (0, failed) for number, (_, failed) in found.items()}
    most = max((max(counts) for counts in found.values()), default=1) or 1
    bars = [
        {
            "x": (number - first) * BAR_PX, "runs": round(HEIGHT_PX * runs / most, 1), "failed": round(HEIGHT_PX * failed / most, 1),
            "told": f"{day(number)}: {failed} / {runs}" if runs else f"{day(number)}: {failed}",
        }
        for number, (runs, failed) in sorted(found.items())
    ]  # fmt: skip
    return {
        "bars": bars, "width": (last - first + 1) * BAR_PX, "height": HEIGHT_PX, "bar": BAR_PX - 1, "first": day(first), "last": day(last), "most": most,
    }  # fmt: skip
