"""The end of a run: its diagnosis, printed last and written beside the log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import TroubleshootError
from kb.text.catalog import Section
from troubleshooter.supervise.folder import FACTS, OUTPUT, REPORT_HTML, REPORT_JSON, RunFolder, name_of, write
from troubleshooter.supervise.supervisor import RunEnd

if TYPE_CHECKING:
    from troubleshooter.hang.judge import HangVerdict
    from troubleshooter.report.model import Report

say = Section("run")
CALL_SECONDS = 60.0
"""The command of ``--on-failure`` may take this long."""
SHOWN_RANKS = 16
MOST_FACTS = 64
"""At most this many files of crash facts are read; each process writes one."""
_OF_OTHERS = ("DistBackendError", "DistNetworkError", "DistStoreError", "DistError")
"""Exceptions that a rank usually raises because another rank is gone."""


def diagnosed(
    folder: RunFolder, tail: bytes, ended: RunEnd, versions: Mapping[str, str], entries: Sequence[Path], lang: str
) -> Report:
    """The report on a run that ended. ``tail``: the last part of the output, if the log could not be written.

    Raises `TroubleshootError`.
    """
    from troubleshooter.cli.settings import ignored
    from troubleshooter.pipeline import Diagnoser
    from troubleshooter.read.sources import Stop, from_path, from_text

    sources = from_path(folder.path / "output.log") if folder.path is not None else []
    if tail or not sources:
        sources.append(from_text(tail, say("memory", lang)))
    told = death(ended)
    if told:
        sources.append(from_text(told, say("end-of-command", lang)))
    name = ended.signal or ("SIGINT" if ended.status in (-signal.SIGINT, 128 + signal.SIGINT) else None)
    if name is not None and name != "SIGQUIT":
        sources[0].stop = Stop(name, ended.silent_s)  # type: ignore[arg-type]
    facts = folder.file(FACTS)
    for path in sorted(facts.glob("*.crash.json"))[:MOST_FACTS] if facts is not None else ():
        (source,) = from_path(path)
        source.facts = True
        sources.append(source)
    from kb.cache import packs

    found = packs(*entries)
    made = Diagnoser.of(found, ignore=ignored([], found), environment=versions)
    return made.report(sources, lang=lang, whole=True)


def death(ended: RunEnd) -> str:
    """The line that a shell would print about a command that was killed by a signal from elsewhere."""
    if ended.status is None or ended.status >= 0 or ended.signal is not None or ended.status == -signal.SIGINT:
        return ""
    return f"{signal.strsignal(-ended.status)}\n"


def keep(folder: RunFolder, report: Report) -> Path | None:
    """Write the report as JSON and HTML beside the log. Returns the path of the JSON, None if it cannot be written."""
    from troubleshooter.report.html import html
    from troubleshooter.report.jsontext import as_json

    path = folder.file(REPORT_JSON)
    kept = write(path, as_json(report.to_dict()) + "\n")
    write(folder.file(REPORT_HTML), html(report))
    return path if kept else None


def remember(
    history: Path,
    report: Report,
    folder: RunFolder,
    command: Sequence[str],
    versions: Mapping[str, str],
    seconds: float,
    lang: str,
) -> None:
    """Put the run into a history. An error is printed and changes nothing else."""
    import socket
    import time

    from troubleshooter.history.details import details, ends_of_file, gpu_count, settings_of
    from troubleshooter.history.recording import keep as keep_in_history
    from troubleshooter.history.run_record import of_report

    now = time.time()
    ends = [ends_of_file(folder.path / OUTPUT)] if folder.path is not None else []
    words = " ".join(command)
    log = str(folder.path / OUTPUT) if folder.path is not None else None
    run = of_report(
        report, details(ends, now), log=log, stamp=f"{now}", job=name_of(command), host=socket.gethostname(), versions=versions,
        ended=now, seconds=seconds, gpu_count=gpu_count(words), settings=settings_of(words),
    )  # fmt: skip
    keep_in_history(history, [run], lang)


def show(folder: RunFolder, report: Report, ended: RunEnd, hang: HangVerdict | None, lang: str) -> None:
    """Print the diagnosis on standard error: the run's own output is on standard output. ``hang``: seen while it ran."""
    with redirect_stdout(sys.stderr), suppress(OSError):
        from troubleshooter.report import terminal

        terminal.separate()
        print(how(ended, lang))
        for line in ranks(report, lang):
            print(line)
        print()
        terminal.show(report, watched=True)
        if report.exit_code == 0:
            print(say("no-reason", lang, count=report.input["lines"]))
        if hang is not None and report.exit_code != 1:
            from troubleshooter.hang.tell import lines

            print("\n" + "\n".join([say("hung", lang), *lines(hang, lang)]))
        if folder.path is not None:
            print()
            print(say("kept", lang, folder=folder.path))
        if ended.goes_on:
            print(say("goes-on", lang))
        sys.stderr.flush()


def how(ended: RunEnd, lang: str) -> str:
    """How the command ended, in a sentence."""
    if ended.status is None:
        return say("ended-unseen", lang)
    if ended.status < 0:
        return say("ended-signal", lang, name=_signal_name(-ended.status))
    return say("ended-well" if ended.status == 0 else "ended-status", lang, status=ended.status)


def ranks(report: Report, lang: str) -> list[str]:
    """A line for each rank that failed, the causes first; empty if the log does not name ranks."""
    order = {"initiating": 0, "cascade": 1, "teardown": 2, "handled": 3}
    by_rank: dict[int, tuple[int, int, str]] = {}
    for failure in report.failures:
        if failure.role == "handled":
            continue
        for rank in failure.ranks:
            place = order[failure.role] or int(failure.exception.endswith(_OF_OTHERS))
            found = place, failure.line, f"{failure.exception}: {failure.message}".splitlines()[0]
            if rank not in by_rank or found < by_rank[rank]:
                by_rank[rank] = found
    if len(by_rank) < 2:
        return []
    from troubleshooter.report.fill import safe

    rows = sorted((place, line, rank, text) for rank, (place, line, text) in by_rank.items())
    first = rows[0][0]
    told = [
        say("rank-first" if place == first else "rank-after", lang, rank=rank, text=safe(text, 120))
        for place, _, rank, text in rows[:SHOWN_RANKS]
    ]
    return told + ([say("ranks-more", lang, count=len(rows) - SHOWN_RANKS)] if len(rows) > SHOWN_RANKS else [])


def call(command: str, report: Path | None, folder: RunFolder, ended: RunEnd, lang: str) -> None:
    """Run the user's command for a failure; the path of the JSON is its first argument."""
    environment = {
        **os.environ,
        "TROUBLESHOOT_REPORT": str(report or ""),
        "TROUBLESHOOT_RUN_DIR": str(folder.path or ""),
        "TROUBLESHOOT_STATUS": str(shell_status(ended)),
    }
    arguments = ["sh", "-c", f'{command} "$@"', "sh", *([str(report)] if report else [])]
    problem = ""
    try:
        done = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, stdout=2, env=environment, timeout=CALL_SECONDS, check=False
        )
        if done.returncode:
            problem = say("call-status", lang, status=done.returncode)
    except subprocess.TimeoutExpired:
        problem = say("call-time", lang, seconds=round(CALL_SECONDS))
    except OSError as error:
        problem = error.strerror or str(error)
    if problem:
        print(f"troubleshoot: --on-failure: {problem}", file=sys.stderr)


def shell_status(ended: RunEnd) -> int:
    """The exit status as a shell counts: 128 and the signal's number, 127 and 126 for a command that did not start."""
    import errno

    if ended.error:
        return 127 if ended.error == errno.ENOENT else 126
    if ended.status is None:
        return 125
    return ended.status if ended.status >= 0 else 128 - ended.status


def end_as(ended: RunEnd) -> int:
    """End this process as the command ended: of the same signal, so that shells and makes see what they would have seen.

    Returns the exit status where it ended by one.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if ended.status is not None and ended.status < 0:
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # only the core dump of the command is of use
        with suppress(OSError, ValueError):
            if -ended.status not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(-ended.status, signal.SIG_DFL)
            os.kill(os.getpid(), -ended.status)
    return shell_status(ended)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def told_safely(error: BaseException, lang: str) -> None:
    """Print that there is no diagnosis. The run ends as it would without it."""
    kind = str(error) if isinstance(error, TroubleshootError) else f"{type(error).__name__}: {error}"
    with suppress(OSError):
        print(f"troubleshoot: {say('no-diagnosis', lang, problem=kind)}", file=sys.stderr)
