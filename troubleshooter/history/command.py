"""``troubleshoot history``: a question to the memory of all runs."""

from __future__ import annotations

import os
from pathlib import Path

from troubleshooter.history.asking import Narrowed, Question, when
from troubleshooter.history.questions import ask
from troubleshooter.history.show import show
from troubleshooter.history.store import History

FILE = "troubleshoot-history.sqlite"
VARIABLE = "TROUBLESHOOT_HISTORY"
NOTHING = 3


def history_file(asked: Path | None) -> Path:
    """The file that is meant: the one that was named, then ``TROUBLESHOOT_HISTORY``, then `FILE` in the working folder."""
    return asked or Path(os.environ.get(VARIABLE) or FILE)


def history(
    question: Question, history: Path | None, cause: str | None, since: str | None, at: str | None, days: int, package: str | None,
    host: str | None, job: str | None, limit: int, format: str, lang: str,
) -> int:  # fmt: skip
    """Answer a question; the exit status: 0 answered, 3 nothing to tell."""
    asked = Narrowed(
        cause=cause, since=when(since) if since else None, at=when(at) if at else None, days=days, package=package, host=host, job=job,
        limit=limit,
    )  # fmt: skip
    with History(history_file(history), create=False) as known:
        answer = ask(known, question, asked)
    show(answer, format, lang)
    return 0 if answer.rows else NOTHING
