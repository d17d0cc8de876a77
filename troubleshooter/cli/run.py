"""Running a diagnosis from the command line: files, a pipe, or the paste prompt; and how it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kb.cache import packs
from kb.errors import UsageError
from kb.nearest import did_you_mean
from troubleshooter.cli.options import Options
from troubleshooter.cli.settings import ignored, language
from troubleshooter.read.sources import Source, Unreadable, from_path, from_stream

if TYPE_CHECKING:
    from troubleshooter.history.details import Ends
    from troubleshooter.history.run_record import RunRecord
    from troubleshooter.pipeline import Diagnoser
    from troubleshooter.report.model import Report

UNUSABLE = 2
NAMED = 3
"""If more entries than this are replaced, they are counted instead of named."""


def tool(options: Options) -> Diagnoser:
    """The diagnoser that the options ask for."""
    from troubleshooter.pipeline import Diagnoser

    found = packs(*options.entries)
    ignore = ignored(options.ignore, found)
    environment, folders = _environment(options.env)
    made = Diagnoser.of(found, ignore=ignore, environment=environment, folders=folders)
    if taken := made.knowledge.overridden():
        shown = ", ".join(taken) if len(taken) <= NAMED else f"{len(taken)} of them"
        print(f"troubleshoot: your own entries replace shipped ones: {shown}", file=sys.stderr)
    return made


def _environment(asked: str | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """The versions that are installed for the Python of ``--env``, and in which folders; both empty without the option."""
    if not asked:
        return {}, ()
    from troubleshooter.verify.environment import EnvironmentProblem, ask

    try:
        found = ask(asked)
    except EnvironmentProblem as error:
        raise Unreadable(f"--env: {error}") from error
    return {"python": found.version, **found.versions}, found.path


def _facts(paths: Sequence[Path]) -> list[Source]:
    """The files of crash facts that ``--facts`` names. Raises `Unreadable` if there is none."""
    found = []
    for path in paths:
        several = from_path(path)
        if path.is_dir():
            several = [source for source in several if source.facts]
        for source in several:
            source.facts = True
        if not several:
            raise Unreadable(f"{path}: holds no crash facts; expected *.crash.json, which troubleshooter.hook writes")
        found += several
    return found


def run(options: Options) -> int:
    """Diagnose the inputs. Returns the exit status, for several inputs the worst one."""
    lang = language(options.lang)
    if options.brief and options.format not in ("terminal", "brief"):
        raise UsageError(f"--brief is a format of its own: leave out --format {options.format}")
    if not options.files and sys.stdin.isatty():
        from troubleshooter.cli.prompt import paste

        return paste(tool(options), lang, options.top)
    facts = _facts(options.facts)
    if not options.files or options.files == ["-"]:
        memory = _Memory(options.history, lang)
        report = _stdin(tool(options), options, lang, facts, memory)
        code = _show([report], options)
        memory.keep()
        return code
    inputs: list[Sequence[Source]] = []
    unreadable = False
    for name in options.files:
        try:
            inputs.append([from_stream(sys.stdin.buffer)] if name == "-" else from_path(Path(name)))
        except Unreadable as error:
            unreadable = _told(error, _meant(name))
    reports: list[Report] = []
    memory = _Memory(options.history, lang)
    if facts and len(inputs) > 1:
        raise UsageError("--facts: give one log, or the folder of one run")
    made = tool(options)
    for sources in inputs:
        try:
            reports.append(_one(made, [*sources, *facts], lang, options.top, memory))
        except Unreadable as error:
            unreadable = _told(error)
    code = _show(reports, options)
    memory.keep()
    return UNUSABLE if unreadable else code


class _Memory:
    """The runs that go into the file of ``--history``; nothing is done where none was named.

    Raises `HistoryError` at once where the file cannot be used at all; what goes wrong later does not change the answer.
    """

    def __init__(self, path: Path | None, lang: str) -> None:
        self._path, self._lang = path, lang
        self._ends: Sequence[Ends] = ()
        self._runs: list[RunRecord] = []
        if path is not None:
            from troubleshooter.history.store import History, NotNow

            with suppress(NotNow):  # said when the diagnosis has been shown
                History(path).close()

    def watch(self, sources: Sequence[Source]) -> None:
        """Keep what the history needs of these sources while they are read."""
        if self._path is not None:
            from troubleshooter.history.details import watched

            self._ends = watched(sources)

    def take(self, report: Report, sources: Sequence[Source]) -> None:
        """The report on the sources that were watched."""
        if self._path is not None:
            from troubleshooter.history.recording import of_diagnosis

            self._runs.append(of_diagnosis(report, sources, self._ends))

    def keep(self) -> None:
        """Write what was taken."""
        if self._path is not None:
            from troubleshooter.history.recording import keep

            keep(self._path, self._runs, self._lang)


def _told(error: Unreadable, hint: str = "") -> bool:
    from troubleshooter.report.fill import safe

    print(f"troubleshoot: {safe(hint or str(error))}", file=sys.stderr)
    return True


def _meant(name: str) -> str:
    """The hint for a word that is not a file but resembles the name of a command."""
    from troubleshooter.cli.commands import COMMANDS

    if os.path.lexists(name) or not name.replace("-", "").isalpha():
        return ""
    names = [command.name for command in COMMANDS]
    if name in names:
        return f"{name}: no such file; if the command is meant, write it first: troubleshoot {name}"
    hint = did_you_mean(name, names)
    return f"{name}: no such file or command; {hint}" if hint else ""


def _one(made: Diagnoser, sources: Sequence[Source], lang: str, top: int, memory: _Memory) -> Report:
    memory.watch(sources)
    report = made.report(sources, lang=lang, top=top)
    problems = [problem["problem"] for problem in report.input["problems"]]
    blank = not report.input["lines"] or problems == ["blank"] * len(sources)
    if blank and report.stopped is None:
        names = ", ".join(s.name for s in sources[:3])
        raise Unreadable(f"{names}: nothing to read; give the log of a run, or pipe it in: command 2>&1 | troubleshoot")
    if problems == ["binary"] and len(sources) == 1 and not report.failures:
        expected = "expected a log (plain, .gz, .xz, .bz2, .zst, .ipynb)"
        raise Unreadable(f"{sources[0].name}: looks like a binary file; {expected}")
    memory.take(report, sources)
    return report


def _stdin(made: Diagnoser, options: Options, lang: str, facts: Sequence[Source], memory: _Memory) -> Report:
    from troubleshooter.cli.pipe import passing
    from troubleshooter.report.render import FOR_READERS

    echo = not options.quiet and options.format in FOR_READERS
    source = from_stream(sys.stdin.buffer)
    with passing(source, echo=echo):
        report = _one(made, [source, *facts], lang, options.top, memory)
    if echo and sys.stdout.isatty():
        from troubleshooter.report.terminal import separate

        separate()
    return report


def _status(reports: Sequence[Report], options: Options) -> int:
    """The worst exit status of the reports, by verdict or (``--exit-by retry``) by whether to run again."""
    if not reports:
        return UNUSABLE
    if options.exit_by == "verdict":
        return max((report.exit_code for report in reports), key=(0, 3, 1, 2).index)
    from troubleshooter.report.retry import WORST_LAST, status, told

    worst = max(reports, key=lambda report: WORST_LAST.index(status(report.retry)))
    print(f"troubleshoot: {told(worst.retry, language(options.lang))}", file=sys.stderr)
    return status(worst.retry)


def _show(reports: list[Report], options: Options) -> int:
    from troubleshooter.report.render import render

    form = "brief" if options.brief else options.format
    status = _status(reports, options)
    try:
        for number, report in enumerate(reports):
            render(report, form, several=len(reports) > 1, first=number == 0)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head`: nobody reads the rest, but the exit status is known
        from troubleshooter.streams import close_output

        close_output()
    return status
