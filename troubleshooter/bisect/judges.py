"""The judges of a trial: the user's own command, and a probe."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kb.text.catalog import Section
from troubleshooter.bisect.failure import RunFailure, failure_in, packages_in, same
from troubleshooter.bisect.layers import Layers
from troubleshooter.bisect.process import run
from troubleshooter.bisect.pythons import PYTHON
from troubleshooter.bisect.trials import Judged, Versions
from troubleshooter.pipeline import Diagnoser
from troubleshooter.verify.overlays import IndexProblem, Overlays, Unbuildable

__all__ = ["SKIPPED_STATUS", "CommandJudge", "ProbeJudge"]

SKIPPED_STATUS: Final = 125
"""The exit status by which a command says that it cannot judge, as for ``git bisect run``."""

_say = Section("bisect")


class CommandJudge:
    """Runs the user's command over throwaway layers: it passes, fails in the way that is looked for, or cannot tell.

    The failure that is looked for is ``wanted`` or holds ``text``; where neither is given, the first failing run sets it.
    """

    def __init__(
        self, command: Sequence[str], layers: Mapping[str, Layers], *, temporary: Path, seconds: float, tool: Diagnoser,
        wanted: RunFailure | None = None, text: str = "", lang: str = "en",
    ) -> None:  # fmt: skip
        """``layers`` are by interpreter version; the one under "" is used where a trial names none."""
        self._command = list(command)
        self._layers = layers
        self._temporary = temporary
        self._seconds = seconds
        self._tool = tool
        self._text = " ".join(text.split())
        self._lang = lang
        self.wanted = wanted
        self._output = ""

    def packages(self, installed: Collection[str]) -> list[str]:
        """The installed packages that the failure of the last run concerns, the likeliest first."""
        return packages_in(self._output, self._tool, installed)

    def __call__(self, versions: Versions) -> Judged:
        packages = {name: version for name, version in versions.items() if name != PYTHON}
        layers = self._layers[versions.get(PYTHON, "")]
        started = time.monotonic()
        try:
            environ = layers.environ(packages, os.environ)
            held = layers.held(packages)
        except IndexProblem:  # it says nothing about these versions
            raise
        except Unbuildable as problem:
            return Judged("skip", str(problem), time.monotonic() - started)
        if PYTHON in versions:
            held[PYTHON] = versions[PYTHON]
        command = [layers.python if self._command[0] in ("python", "python3") else self._command[0], *self._command[1:]]
        end = run(command, self._seconds, environ, self._temporary)
        seconds = round(time.monotonic() - started, 2)
        self._output = end.output
        if end.stopped:
            return Judged("skip", end.stopped, seconds, held)
        if end.status == SKIPPED_STATUS:
            return Judged("skip", _say("said-skip", self._lang, status=SKIPPED_STATUS), seconds, held)
        if self._text:
            return self._by_text(end.output, end.status, seconds, held)
        if end.status == 0:
            return Judged("good", _say("passed", self._lang), seconds, held)
        failure = failure_in(end.output, self._tool) or RunFailure(_say("status", self._lang, status=end.status), "")
        if self.wanted is None:
            self.wanted = failure
        if same(failure, self.wanted):
            return Judged("bad", str(failure), seconds, held)
        return Judged("skip", _say("another-failure", self._lang, failure=failure), seconds, held)

    def _by_text(self, output: str, status: int | None, seconds: float, held: Versions) -> Judged:
        if self._text in " ".join(output.split()):
            return Judged("bad", self._text, seconds, held)
        if status == 0:
            return Judged("good", _say("passed", self._lang), seconds, held)
        failure = failure_in(output, self._tool) or _say("status", self._lang, status=status)
        return Judged("skip", _say("another-failure", self._lang, failure=failure), seconds, held)


class ProbeJudge:
    """Runs an entry's probe over overlays of the environment that all probes share."""

    def __init__(self, entry: Any, name: str, options: Mapping[str, Any], overlays: Overlays, seconds: float) -> None:
        from troubleshooter.verify import probe

        self._entry = entry
        self._probe = probe.load(name)
        self._options = self._probe.options(options)
        self._overlays = overlays
        self._seconds = seconds

    def failing_versions(self) -> dict[str, str]:
        """The newest versions with which the probe's own file says that it fails; empty where it names none."""
        pairs = self.pairs("confirmed")
        return pairs[-1] if pairs else {}

    def pairs(self, *verdicts: str) -> list[dict[str, str]]:
        """The versions that the probe's own file names, newest last: those with one of the verdicts, or all."""
        return [
            dict(versions)
            for verdict, versions, *given in self._probe.pairs
            if (not verdicts or verdict in verdicts) and self._probe.options(given[0] if given else {}) == self._options
        ]

    def __call__(self, versions: Versions) -> Judged:
        from troubleshooter.verify import matrix, runner

        started = time.monotonic()
        job = matrix.MatrixJob(self._entry, None, self._probe, self._options, "", versions)
        try:
            said = matrix.over(job, self._overlays, runner.Limits(seconds=self._seconds))
        except IndexProblem:
            raise
        except Unbuildable as problem:
            return Judged("skip", str(problem).splitlines()[-1], time.monotonic() - started)
        held = {name: said.environment["versions"].get(name, "none") for name in versions}
        seconds = round(time.monotonic() - started, 2)
        if any(held[name] != version for name, version in versions.items()):
            return Judged("skip", f"asked for {dict(versions)}, ran with {held}", seconds, held)
        outcomes = {"confirmed": "bad", "kind-confirmed": "bad", "not-here": "good"}
        return Judged(outcomes.get(said.verdict, "skip"), said.reason, seconds, held)  # type: ignore[arg-type]
