"""``troubleshoot bisect [ENTRY|LOG] [-- COMMAND…]``: which release broke it, and which one repaired it."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kb.cache import cache_folder
from kb.errors import TroubleshootError, UsageError
from troubleshooter.bisect import hints, present
from troubleshooter.bisect import record as records
from troubleshooter.bisect.bisector import Change, Finding, changed, one_package
from troubleshooter.bisect.failure import RunFailure, failure_in
from troubleshooter.bisect.judges import CommandJudge, ProbeJudge
from troubleshooter.bisect.layers import Layers, releases
from troubleshooter.bisect.locks import differences, pins
from troubleshooter.bisect.pythons import PYTHON, interpreters
from troubleshooter.bisect.trials import Judge, Trials
from troubleshooter.pipeline import Diagnoser
from troubleshooter.verify.overlays import Overlays, canonical, default_folder

if TYPE_CHECKING:
    from packaging.version import Version

__all__ = ["bisect"]

INTERRUPTED: Final = 130
TIMEOUT_SECONDS: Final = 600.0
"""So long one run of the command may take."""
REMEMBERED_SECONDS: Final = 30 * 24 * 3600
"""So long an interrupted search can go on."""


def bisect(
    target: str | None = None,
    command: Sequence[str] = (),
    *,
    packages: Sequence[str] = (),
    good: Sequence[str] = (),
    bad: Sequence[str] = (),
    before: Path | None = None,
    after: Path | None = None,
    same: str | None = None,
    python: str | None = None,
    timeout: float = TIMEOUT_SECONDS,
    again: bool = False,
    record: bool = False,
    entries: Sequence[Path] = (),
    lang: str = "en",
    format: str = "terminal",
) -> int:
    """Search, print the answer, and return the exit status: 0 exact, 3 not determined, 130 interrupted.

    Raises TroubleshootError (exit 2) for what cannot be searched at all.
    """
    if (before is None) != (after is None):
        raise UsageError("bisect: --from and --to belong together; give both lock files")
    log = Path(target) if target is not None and Path(target).exists() else None
    names = [name if name == PYTHON else canonical(name) for name in packages]
    options = BisectOptions(names, _versions(good), _versions(bad), timeout, again, record, entries, lang, format)
    with tempfile.TemporaryDirectory(prefix="troubleshoot-bisect-") as folder:
        if command:
            if target is not None and log is None:
                raise UsageError(
                    f"bisect: {target} is no file; give the log whose failure the command repeats, or no log"
                )
            if record:
                raise UsageError("bisect: --record writes what a probe found; a command's range belongs to no entry")
            return _by_command(options, command, log, same, python, before, after, Path(folder))
        if before is not None or target is None:
            raise UsageError(
                "bisect: give an entry, or a command after `--` that fails where the failure is: -- python repro.py"
            )
        return _by_probe(options, target, log, Path(folder))


@dataclass(frozen=True)
class BisectOptions:
    """The options that all ways share. ``good`` and ``bad`` are versions by package; "" stands for the only package."""

    packages: Sequence[str]
    good: Mapping[str, str]
    bad: Mapping[str, str]
    timeout: float
    again: bool
    record: bool
    entries: Sequence[Path]
    lang: str
    format: str

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
                f"bisect: {package} {version} is not among the {len(offered)} releases offered here: {near} "
                f"(pre-releases, and releases that were taken back, are left out)"
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
    options: BisectOptions, command: Sequence[str], log: Path | None, same: str | None, python: str | None, before: Path | None,
    after: Path | None, folder: Path,
) -> int:  # fmt: skip
    tool = Diagnoser.load(options.entries)
    wanted = _failure_of(log, tool) if log is not None else None
    interpreter = _interpreter(python)
    locks = differences(pins(before), pins(after)) if before is not None and after is not None else []
    if before is not None and not locks:
        raise UsageError(f"bisect: {before} and {after} pin no package to different versions")
    stated = [name for name, _, _ in locks] or options.packages
    layers = {"": Layers(interpreter, folder, stated, complete=not locks)}
    if PYTHON in stated:
        for version, path in interpreters().items():
            (folder / version).mkdir()
            layers[version] = Layers(path, folder / version, stated)
    judge = CommandJudge(
        command,
        layers,
        temporary=folder,
        seconds=options.timeout,
        tool=tool,
        wanted=wanted,
        text=same or "",
        lang=options.lang,
    )
    base = layers[""].base
    about = ["command", list(command), same, wanted, interpreter, sorted(base.items()), Path.cwd(), stated]
    trials = options.trials(judge, about)
    if locks:
        return _told(options, trials, lambda: _of_locks(locks, interpreter, trials))
    if not stated:
        judge({})  # says which failure is looked for, and whose it is
        stated = judge.packages(base)
        if not stated:
            raise UsageError("bisect: the failure shows no installed package; name it: --package NAME")
        layers[""] = Layers(interpreter, folder, stated[:1])
        stated = stated[:1]
    if len(stated) > 1:
        rows = {name: _offered(name, interpreter, layers, base) for name in stated}
        return _told(options, trials, lambda: _of_several(options, rows, interpreter, base, trials))
    [package] = stated
    offered = _offered(package, interpreter, layers, base)

    from troubleshooter.verify.environment import ask

    def search() -> tuple[list[Finding], list[str]]:
        bad = options.of(options.bad, package, offered)
        likely = [base[package]] if package in base else [ask(interpreter).version] if package == PYTHON else []
        if judge.wanted is None and not same:  # the failure that is looked for is that of the first failing release
            trials.ask({package: bad or next((v for v in likely if v in offered), offered[-1])})
        known = hints.of_message(judge.wanted, package, offered) if judge.wanted else []
        good = options.of(options.good, package, offered)
        return [one_package(package, offered, trials, good=good, bad=bad, likely_bad=likely, hints=known)], []

    return _told(options, trials, search)


def _by_probe(options: BisectOptions, target: str, log: Path | None, folder: Path) -> int:
    from troubleshooter.verify import subject
    from troubleshooter.verify.entry import asked_probe, asks_the_log

    entry = (
        subject.of_log(log, options.entries, options.lang)
        if log
        else subject.of_entry(target, options.entries, options.lang)
    )
    named = asked_probe(entry)
    if named is None:
        raise UsageError(
            f"bisect: {entry.id} has no probe; give a command that fails: bisect {target} -- python repro.py"
        )
    if PYTHON in options.packages:
        raise UsageError(
            f"bisect: a probe runs with one Python; give a command: bisect --package {PYTHON} -- python repro.py"
        )
    overlays = Overlays(default_folder(), places=folder)
    judge = ProbeJudge(entry, named[0], named[1], overlays, options.timeout)
    failing = judge.failing_versions()
    package = next(iter(options.packages), None) or next(iter(entry.versions), None) or next(iter(failing), None)
    if package is None or (not failing and asks_the_log(entry) and not log):
        raise UsageError(
            f"bisect: {entry.id} names no package whose releases could be tried; say which: --package NAME"
        )
    fixed = {name: version for name, version in failing.items() if name != package}
    offered = releases(package, str(overlays.base()))
    trials = options.trials(judge, ["probe", named, fixed, package])
    range_ = entry.versions.get(package, "")
    likely = [version for version in (entry.log_versions.get(package), failing.get(package)) if version]

    def search() -> tuple[list[Finding], list[str]]:
        bad, good = options.of(options.bad, package, offered), options.of(options.good, package, offered)
        known = hints.of_range(range_, offered) if range_ else []
        found = one_package(
            package, offered, trials, fixed=fixed, good=good, bad=bad, likely_bad=likely, hints=known
        )  # fmt: skip
        if options.record and entry.folder is not None:
            print(records.write(entry.folder, found), file=sys.stderr)
        return [found], []

    return _told(options, trials, search)


def _offered(package: str, interpreter: str, layers: Mapping[str, Layers], base: Mapping[str, str]) -> list[str]:
    """What can be tried of a package, oldest first: the releases on offer, and the installed version.

    An index may not offer the installed one (any more): it was taken back, or built here.
    """
    if package == PYTHON:
        found = sorted(layers.keys() - {""}, key=_numbers)
        if len(found) < 2:
            raise UsageError(
                f"bisect: only Python {', '.join(found)} was found on PATH, of pyenv and of uv; install another one to compare"
            )
        return found
    from packaging.version import InvalidVersion

    offered = releases(package, interpreter)
    try:
        return sorted({*offered, *([base[package]] if package in base else [])}, key=_numbers)
    except InvalidVersion:  # a build of one's own may be called anything
        return offered


def _of_locks(
    locks: Sequence[tuple[str, str, str]], interpreter: str, trials: Trials
) -> tuple[list[Finding], list[str]]:
    return _changed([(name, old, new, []) for name, old, new in locks], interpreter, trials)


def _of_several(
    options: BisectOptions, packages: Mapping[str, Sequence[str]], interpreter: str, base: Mapping[str, str], trials: Trials
) -> tuple[list[Finding], list[str]]:  # fmt: skip
    rows = []
    for package, offered in packages.items():
        old, new = (
            options.of(options.good, package, offered),
            options.of(options.bad, package, offered) or base.get(package, ""),
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


def _told(options: BisectOptions, trials: Trials, search: Callable[[], tuple[list[Finding], list[str]]]) -> int:
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
    if options.format == "json":
        print(json.dumps(present.as_json(result), ensure_ascii=False, indent=1))
    else:
        print(present.shown(result, options.lang), end="")
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
