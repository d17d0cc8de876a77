"""Ask a history a question. Each kind of question has its function in one of the modules beside this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from troubleshooter.history import causes, comparisons, runs, upgrade
from troubleshooter.history.asking import Answer, Narrowed, Question
from troubleshooter.history.store import History

_ANSWERS: Mapping[Question, Callable[[History, Narrowed], Answer]] = {
    "failures": causes.failures, "new": causes.new, "versions": comparisons.versions, "hosts": comparisons.hosts,
    "gpus": comparisons.gpus, "upgrade": upgrade.upgrade, "fix": causes.fix, "unknown": causes.unknown, "runs": runs.last_runs,
}  # fmt: skip


def ask(history: History, question: Question, asked: Narrowed) -> Answer:
    """The answer to a question. Raises `UsageError` if an option is missing, or names what the history does not know."""
    return _ANSWERS[question](history, asked)
