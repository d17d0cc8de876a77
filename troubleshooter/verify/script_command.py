"""``troubleshoot verify ENTRY --script FILE``: the probe as one file, checked by running it beside the probe itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kb.errors import UsageError
from troubleshooter.verify import probe as probes
from troubleshooter.verify import runner
from troubleshooter.verify.entry import asked_probe
from troubleshooter.verify.environment import Environment, EnvironmentProblem
from troubleshooter.verify.interpreters import find
from troubleshooter.verify.probe import Options, Probe
from troubleshooter.verify.script import ScriptCheck, check, script_of
from troubleshooter.verify.subject import Subject
from troubleshooter.verify.words import say

__all__ = ["same_failure", "write_script"]


def write_script(
    asked: Subject, path: Path, python: str | None, timeout: float, lang: str, folders: Sequence[Path] = ()
) -> int:
    """Write the file, run it, and print the result. Returns 1 if it fails as the probe does, 0 if neither fails, 3 if it could not be
    checked or differs from the probe. Raises UsageError for an entry without a probe, and `Unscriptable`."""
    named = asked_probe(asked)
    if named is None:
        raise UsageError(f"verify: {asked.id} has no probe, so there is nothing to write")
    probe = probes.load(named[0], folders)
    options = probe.options(named[1])
    text = script_of(probe, options, asked.title)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}; give a file that can be written") from problem
    try:
        environment = find(python, asked.site_folders, (*asked.versions, *probe.needs)).environment
        missing = [name for name in probe.needs if name not in environment.versions]
    except EnvironmentProblem as problem:
        print(say("script-unchecked", lang, path=path, why=problem))
        return 3
    if missing:
        why = say("missing", lang, packages=", ".join(missing), python=environment.python)
        print(say("script-unchecked", lang, path=path, why=why))
        return 3
    kind, place = _of_probe(probe, options, environment, timeout)
    said = check(text, environment.python, os.environ, timeout, environment.user_base)
    status = _status(said, kind, place)
    key = {0: "script-not-here", 1: "script-fails", 3: "script-differs"}[status]
    print(say(key, lang, path=path, failure=said.fails, place=said.place, expected=f"{kind} ({place})"))
    for name in said.fixed if status == 1 else ():
        print(say("script-fixed", lang, command=f"python {path} {name}"))
    for name in said.broken if status == 1 else ():
        print(say("script-not-fixed", lang, command=f"python {path} {name}"), file=sys.stderr)
    return status


def same_failure(said: ScriptCheck, kind: str, place: str) -> bool:
    """Whether the file failed with this exception, raised by this function (``module:function``)."""
    module, _, function = place.rpartition(":")
    own, _, raised = said.place.rpartition(":")
    named = said.fails.partition(":")[0].rpartition(".")[2]
    if kind == "RecursionError":  # how deep the caller stands decides in which of the functions the limit is met
        return named == kind
    return named == kind and raised == function and (not own or own.endswith(module))


def _status(said: ScriptCheck, kind: str, place: str) -> int:
    if not kind and not said.fails:
        return 0
    return 1 if kind and same_failure(said, kind, place) else 3


def _of_probe(probe: Probe, options: Options, environment: Environment, timeout: float) -> tuple[str, str]:
    """The exception of the probe's own run and the function that raised it; "" if the failure does not occur here."""
    limits = runner.Limits(seconds=timeout)
    outcome = runner.run(probe, environment.python, options, limits=limits, user_base=environment.user_base)
    for row in outcome.of("symptom"):
        observed = row.get("observed") or {}
        if row.get("occurred") is True:
            return str(observed.get("exception") or ""), str(observed.get("where") or "")
    return "", ""
