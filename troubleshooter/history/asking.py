"""What can be asked of a history, what narrows a question, and the form of its answer."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from kb.errors import UsageError
from troubleshooter.history.store import SECONDS_A_DAY

Question = Literal["failures", "new", "versions", "hosts", "gpus", "upgrade", "fix", "unknown", "runs"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
LIMIT = 20
WINDOW_DAYS = 14

Row = dict[str, Any]
"""One row of an answer: plain values by name; the names say the units (``lost_gpu_hours``)."""
T = TypeVar("T")


class Narrowed(NamedTuple):
    """What narrows a question. ``cause``: the id of an entry or a fingerprint; ``since``, ``at``, ``now``: seconds since 1970."""

    cause: str | None = None
    since: float | None = None
    at: float | None = None
    days: int = WINDOW_DAYS
    package: str | None = None
    host: str | None = None
    job: str | None = None
    limit: int = LIMIT
    now: float | None = None

    @property
    def present(self) -> float:
        """``now``, or the time of the clock."""
        return self.now if self.now is not None else time.time()


class Answer(NamedTuple):
    """The first rows of an answer, the statistical test behind them ("" without one), and the number of all rows."""

    question: Question
    rows: list[Row]
    test: str = ""
    total: int = 0


def when(text: str, now: float | None = None) -> float:
    """Seconds since 1970 of a date (``2026-11-23``), a date and a time, or a number of days ago (``14d``); UTC without a zone.

    Raises `UsageError`.
    """
    if (ago := re.fullmatch(r"(\d{1,5})d", text)) is not None:
        return (now or time.time()) - int(ago[1]) * SECONDS_A_DAY
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text}: no date; expected for example 2026-11-23, 2026-11-23T08:30 or 14d (days ago)"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def day(number: int) -> str:
    """The date of a day, given as its number since 1970: ``2026-11-23``."""
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(days=number)).strftime("%Y-%m-%d")


def moment(seconds: float) -> str:
    """A time in UTC as text: ``2026-11-23 08:30``."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M")


def required(value: T | None, question: Question, option: str) -> T:
    """The value that a question needs. Raises `UsageError`, which names the option, if it was not given."""
    if value is None:
        raise UsageError(f"history {question}: needs {option}")
    return value
