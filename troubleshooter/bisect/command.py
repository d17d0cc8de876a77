"""``troubleshoot bisect [ENTRY|LOG] [-- COMMAND…]``: which release broke it, and which one repaired it."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kb.cache import cache_folder
from kb.errors import TroubleshootError, UsageError
from troubleshooter.bisect import hints, present
from troubleshooter.bisect.bisector import Change, Finding, changed, one_package
from troubleshooter.bisect.failure import RunFailure, failure_in
from troubleshooter.bisect.judges import PYTHON, CommandJudge, ProbeJudge, interpreters
from troubleshooter.bisect.layers import Layers, releases
from troubleshooter.bisect.locks import differences, pins
from troubleshooter.bisect.trials import Judge, Trials
from troubleshooter.pipeline import Diagnoser
from troubleshooter.verify.overlays import Overlays, canonical, default_folder

if TYPE_CHECKING:
    from packaging.version import Version

__all__ = ["bisect"]

INTERRUPTED: Final = 130
REMEMBERED_SECONDS: Final = 30 * 24 * 3600
"""So long an interrupted search can go on."""


def bisect(
    target: str | None, command: Sequence[str], packages: Sequence[str], good: Sequence[str], bad: Sequence[str],
    before: Path | None, after: Path | None, same: str | None, python: str | None, timeout: float, again: bool,
    record: bool, entries: Sequence[Path], lang: str, format: str,
) -> int:  # fmt: skip
    """Search, print the answer, and return the exit status: 0 exact, 3 not determined, 130 interrupted.

    Raises TroubleshootError (exit 2) for what cannot be searched at all.
    """
    if (before is None) != (after is None):
        raise UsageError("bisect: --from and --to belong together; give both lock files")
    log = Path(target) if target is not None and Path(target).exists() else None
    if command:
        asked = _Asked(packages, _versions(good), _versions(bad), timeout, again, entries, lang, format)
        with tempfile.TemporaryDirectory(prefix="troubleshoot-bisect-") as folder:
            if target is not None and log is None:
                raise UsageError(
                    f"bisect: {target} is no file; give the log whose failure the command repeats, or no log"
                )
            return _by_command(asked, command, log, same, python, before, after, Path(folder))
    if before is not None or target is None:
        raise UsageError(
            "bisect: give an entry, or a command after `--` that fails where the failure is: -- python repro.py"
        )
    asked = _Asked(packages, _versions(good), _versions(bad), timeout, again, entries, lang, format)
    with tempfile.TemporaryDirectory(prefix="troubleshoot-bisect-") as folder:
        return _by_probe(asked, target, log, record, Path(folder))


class _Asked:
    """The options that all ways share. ``good`` and ``bad`` are versions by package; "" stands for the only package."""

    def __init__(
        self, packages: Sequence[str], good: Mapping[str, str], bad: Mapping[str, str], timeout: float, again: bool,
        entries: Sequence[Path], lang: str, format: str,
    ) -> None:  # fmt: skip
        self.packages = [name if name == PYTHON else canonical(name) for name in packages]
        self.good = good
        self.bad = bad
        self.timeout = timeout
        self.again = again
        self.entries = entries
        self.lang = lang
        self.format = format

    def trials(self, judge: Judge, about: object) -> Trials:
        """Trials that go on where an interrupted search for the same thing stopped."""
        digest = hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:24]
        memory = cache_folder() / "bisect" / f"{digest}.jsonl"
        memory.parent.mkdir(parents=True, exist_ok=True)
        for old in memory.parent.glob("*.jsonl"):
            if time.time() - old.stat().st_mtime > REMEMBERED_SECONDS:
                old.unlink(missing_ok=True)
        if self.again:
            memory.unlink(missing_ok=True)
        return Trials(judge, memory, present.TrialProgress(self.lang, quiet=self.format == "json"))

    def of(self, given: Mapping[str, str], package: str, offered: Sequence[str]) -> str:
        """The version that the user gave for a package, which must be offered; "" where none was given."""
        version = given.get(package) or given.get("", "")
        if version and version not in offered:
            near = ", ".join([*offered[:2], "…", *offered[-3:]]) if len(offered) > 5 else ", ".join(offered)
            raise UsageError(
                f"bisect: {package} {version} is not among the {len(offered)} releases offered here: {near}"
            )
        return version


def _versions(given: Sequence[str]) -> dict[str, str]:
    """``4.50.3`` and ``transformers==4.50.3`` by package."""
    found = {}
    for text in given:
        name, equals, version = text.partition("==")
        found[canonical(name) if equals and name != PYTHON else name if equals else ""] = version if equals else text
    return found


def _by_command(
    asked: _Asked, command: Sequence[str], log: Path | None, same: str | None, python: str | None, before: Path | None,
    after: Path | None, folder: Path,
) -> int:  # fmt: skip
    tool = Diagnoser.load(asked.entries)
    wanted = _failure_of(log, tool) if log is not None else None
    interpreter = _interpreter(python)
    locks = differences(pins(before), pins(after)) if before is not None and after is not None else []
    if before is not None and not locks:
        raise UsageError(f"bisect: {before} and {after} pin no package to different versions")
    stated = [name for name, _, _ in locks] or asked.packages
    layers = {"": Layers(interpreter, folder, stated, complete=not locks)}
    if PYTHON in stated:
        for version, path in interpreters().items():
            (folder / version).mkdir()
            layers[version] = Layers(path, folder / version, stated)
    judge = CommandJudge(
        command,
        layers,
        temporary=folder,
        seconds=asked.timeout,
        tool=tool,
        wanted=wanted,
        text=same or "",
        lang=asked.lang,
    )
    base = layers[""].base
    about = ["command", list(command), same, wanted, interpreter, sorted(base.items()), Path.cwd(), stated]
    trials = asked.trials(judge, about)
    if locks:
        return _told(asked, trials, lambda: _of_locks(locks, interpreter, trials))
    if not stated:
        judge({})  # says which failure is looked for, and whose it is
        stated = judge.packages(base)
        if not stated:
            raise UsageError("bisect: the failure shows no installed package; name it: --package NAME")
        layers[""] = Layers(interpreter, folder, stated[:1])
        stated = stated[:1]
    if len(stated) > 1:
        return _told(asked, trials, lambda: _of_several(asked, stated, interpreter, base, trials))
    [package] = stated
    offered = sorted(layers.keys() - {""}, key=_numbers) if package == PYTHON else releases(package, interpreter)

    def search() -> tuple[list[Finding], list[str]]:
        bad = asked.of(asked.bad, package, offered)
        likely = [base[package]] if package in base else []
        if judge.wanted is None and not same:  # the failure that is looked for is that of the first failing release
            trials.ask({package: bad or next((v for v in likely if v in offered), offered[-1])})
        known = hints.of_message(judge.wanted, package, offered) if judge.wanted else []
        good = asked.of(asked.good, package, offered)
        return [one_package(package, offered, trials, good=good, bad=bad, likely_bad=likely, hints=known)], []

    return _told(asked, trials, search)


def _by_probe(asked: _Asked, target: str, log: Path | None, record: bool, folder: Path) -> int:
    from troubleshooter.verify import subject
    from troubleshooter.verify.verdict import asked_probe, asks_the_log

    entry = (
        subject.of_log(log, asked.entries, asked.lang) if log else subject.of_entry(target, asked.entries, asked.lang)
    )
    named = asked_probe(entry)
    if named is None:
        raise UsageError(
            f"bisect: {entry.id} has no probe; give a command that fails: bisect {target} -- python repro.py"
        )
    overlays = Overlays(default_folder(), places=folder)
    judge = ProbeJudge(entry, named[0], named[1], overlays, asked.timeout)
    failing = judge.failing_versions()
    package = next(iter(asked.packages), None) or next(iter(entry.versions), None) or next(iter(failing), None)
    if package is None or (not failing and asks_the_log(entry) and not log):
        raise UsageError(
            f"bisect: {entry.id} names no package whose releases could be tried; say which: --package NAME"
        )
    fixed = {name: version for name, version in failing.items() if name != package}
    offered = releases(package, str(overlays.base()))
    trials = asked.trials(judge, ["probe", named, fixed, package])
    range_ = entry.versions.get(package, "")
    likely = [version for version in (entry.log_versions.get(package), failing.get(package)) if version]

    def search() -> tuple[list[Finding], list[str]]:
        bad, good = asked.of(asked.bad, package, offered), asked.of(asked.good, package, offered)
        known = hints.of_range(range_, offered) if range_ else []
        found = one_package(
            package, offered, trials, fixed=fixed, good=good, bad=bad, likely_bad=likely, hints=known
        )  # fmt: skip
        if record and entry.folder is not None:
            from troubleshooter.bisect.record import write

            print(write(entry.folder, found), file=sys.stderr)
        return [found], []

    return _told(asked, trials, search)


def _of_locks(
    locks: Sequence[tuple[str, str, str]], interpreter: str, trials: Trials
) -> tuple[list[Finding], list[str]]:
    return _changed([(name, old, new, []) for name, old, new in locks], interpreter, trials)


def _of_several(
    asked: _Asked, packages: Sequence[str], interpreter: str, base: Mapping[str, str], trials: Trials
) -> tuple[list[Finding], list[str]]:
    rows = []
    for package in packages:
        offered = releases(package, interpreter)
        old, new = (
            asked.of(asked.good, package, offered),
            asked.of(asked.bad, package, offered) or base.get(package, ""),
        )
        if not old or not new:
            missing = "--good" if not old else "--bad"
            raise UsageError(f"bisect: of several packages each needs both ends; give {missing} {package}==VERSION")
        rows.append((package, old, new, offered))
    return _changed(rows, interpreter, trials)


def _changed(
    rows: Sequence[tuple[str, str, str, Sequence[str]]], interpreter: str, trials: Trials
) -> tuple[list[Finding], list[str]]:
    """``rows``: package, version before, version after, and its releases where they were listed already."""
    changes = [
        Change(name, old, new, partial(_row, name, old, new, known, interpreter)) for name, old, new, known in rows
    ]
    return changed(changes, trials)


def _row(package: str, old: str, new: str, known: Sequence[str], interpreter: str) -> list[str]:
    """The releases from the one to the other, in that order."""
    offered = known or releases(package, interpreter)
    row = sorted({*offered, old, new}, key=_numbers)
    low, high = row.index(old), row.index(new)
    return row[low : high + 1] if low <= high else row[high : low + 1][::-1]


def _numbers(version: str) -> Version:
    from packaging.version import Version

    return Version(version)


def _told(asked: _Asked, trials: Trials, search: Callable[[], tuple[list[Finding], list[str]]]) -> int:
    """Search, and print what came of it, also where Ctrl-C ended it."""
    started = time.monotonic()
    findings: list[Finding] = []
    together: list[str] = []
    interrupted = False
    try:
        findings, together = search()
    except KeyboardInterrupt:
        interrupted = True
    result = present.Bisection(findings, together, trials, time.monotonic() - started, interrupted)
    if asked.format == "json":
        print(json.dumps(present.as_json(result), ensure_ascii=False, indent=1))
    else:
        print(present.shown(result, asked.lang), end="")
    return INTERRUPTED if interrupted else present.exit_status(result)


def _failure_of(log: Path, tool: Diagnoser) -> RunFailure:
    failure = failure_in(log.read_text(encoding="utf-8", errors="replace"), tool)
    if failure is None:
        raise UsageError(f"bisect: {log} shows no exception that a command could repeat; use --same TEXT instead")
    return failure


def _interpreter(python: str | None) -> str:
    """The interpreter that ``python`` in the command means: the one that the user names, the active one, or PATH's."""
    import os
    import shutil

    from troubleshooter.verify.environment import interpreter_of

    if python is not None:
        return interpreter_of(python)
    if active := os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX"):
        return interpreter_of(active)
    found = shutil.which("python") or shutil.which("python3")
    if found is None:
        raise TroubleshootError("bisect: no Python on PATH; name the environment that fails with --python PATH")
    return found
