"""``troubleshoot run``: from the folder of the run to its exit status."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kb.errors import UsageError
from kb.text.catalog import Section
from troubleshooter.supervise.folder import FACTS, RunFolder, new_folder

if TYPE_CHECKING:
    from troubleshooter.hang.judge import HangVerdict
    from troubleshooter.report.model import Report
    from troubleshooter.supervise.beside import Beside
    from troubleshooter.supervise.supervisor import RunEnd, Supervisor

say = Section("run")
HOOK_FOLDER = "TROUBLESHOOT_HOOK_DIR"
QUIET_SECONDS = 0.5
"""For this time after the start nothing is done beside the run, which then needs the whole machine."""
BRING = Path(__file__).with_name("bring")
"""The folder that brings the hook into each Python of the run."""


class Wishes(NamedTuple):
    """The options of a run."""

    stop_early: bool
    hang_after: float | None
    hook: bool
    entries: list[Path]
    lang: str
    history: Path | None


def environment(folder: RunFolder, *, hook: bool) -> dict[str, str]:
    """The variables of the command: ours, and those that bring the hook into its Pythons."""
    found = dict(os.environ)
    facts = folder.file(FACTS)
    if hook and facts is not None:
        found[HOOK_FOLDER] = str(facts.absolute())
        found["PYTHONPATH"] = os.pathsep.join(part for part in (str(BRING), found.get("PYTHONPATH")) if part)
    return found


def run(
    command: list[str], log: Path | None, stop_early: bool, on_failure: str | None, hang_after: float | None, hook: bool, retry: int,
    entries: list[Path], lang: str, history: Path | None = None,
) -> int:  # fmt: skip
    """Run a command to its end, diagnose it where it failed, and end as it ended.

    Raises `UsageError` where the log cannot be had in the folder that was asked for, or on a system without its means.
    """
    if not hasattr(os, "fork"):
        raise UsageError("run: needs Linux or macOS; here, pipe the run in: command 2>&1 | troubleshoot")
    wishes = Wishes(stop_early, hang_after, hook, entries, lang, history)
    if history is not None:
        from troubleshooter.history.store import History, NotNow

        with suppress(NotNow):  # room may be made until the run ends
            History(history).close()  # report an unusable file before the run starts
    for attempt in range(1, retry + 2):
        folder = new_folder(log, command, attempt)
        if folder.warning is not None:
            key, problem = folder.warning
            print(f"troubleshoot: {say(key, lang, problem=problem, folder=folder.path)}", file=sys.stderr)
        ended, report = _attempt(command, folder, wishes, on_failure)
        if attempt > retry or report is None or not _retry_helps(report, ended):
            break
        print(f"troubleshoot: {say('again', lang, attempt=attempt + 1, most=retry + 1)}", file=sys.stderr)
    from troubleshooter.supervise.ending import end_as

    return end_as(ended)


def _attempt(
    command: Sequence[str], folder: RunFolder, wishes: Wishes, on_failure: str | None
) -> tuple[RunEnd, Report | None]:
    from troubleshooter.supervise.supervisor import Supervisor

    started = time.time()
    beside: Beside | None = None

    def tick(running: Supervisor) -> None:
        nonlocal beside
        if beside is None and time.time() - started < QUIET_SECONDS:
            return
        if beside is None:
            from troubleshooter.supervise.beside import Beside

            beside = Beside(running, wishes)
        beside.tick()

    supervisor = Supervisor(command, environment(folder, hook=wishes.hook), folder, tick)
    ended = supervisor.run()
    if ended.error:
        print(f"troubleshoot: run: {command[0]}: {os.strerror(ended.error)}", file=sys.stderr)
        return ended, None
    if beside is None:
        from troubleshooter.supervise.beside import Beside

        beside = Beside(supervisor, wishes)
    versions = beside.close()
    seconds = round(time.time() - started, 1)
    folder.note(status=ended.status, signal=ended.signal, seconds=seconds, missing_bytes=supervisor.shared.missing)
    return ended, _told(folder, supervisor, ended, versions, on_failure, wishes, seconds, beside.hang)


def _told(
    folder: RunFolder, supervisor: Supervisor, ended: RunEnd, versions: Mapping[str, str], on_failure: str | None,
    wishes: Wishes, seconds: float, hang: HangVerdict | None,
) -> Report | None:  # fmt: skip
    """Diagnose the run, record and print the diagnosis, call the user's command. No error here may change how the run ended."""
    from troubleshooter.supervise import ending

    entries, lang = wishes.entries, wishes.lang
    try:
        report = ending.diagnosed(folder, supervisor.shared.tail(), ended, versions, entries, lang)
        path = ending.keep(folder, report)
        if wishes.history is not None:
            ending.remember(wishes.history, report, folder, supervisor.command, versions, seconds, lang)
        failed = ended.status != 0 or report.exit_code == 1
        if failed:
            ending.show(folder, report, ended, hang, lang)
            if on_failure is not None:
                ending.call(on_failure, path, folder, ended, lang)
    except KeyboardInterrupt:
        return None
    except Exception as error:
        ending.told_safely(error, lang)
        return None
    return report if failed else None


def _retry_helps(report: Report, ended: RunEnd) -> bool:
    """Whether to run the command again: the first answer says that it may succeed, and no user stopped the run."""
    return ended.signal is None and ended.status != 0 and report.retry["decision"] == "may-help"
