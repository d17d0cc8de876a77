"""A bisection for the terminal and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kb.text.catalog import Section
from troubleshooter.bisect.bisector import Finding
from troubleshooter.bisect.pythons import PYTHON
from troubleshooter.bisect.trials import RunsOfVersions, Trials

__all__ = ["SCHEMA_VERSION", "Bisection", "TrialProgress", "as_json", "exit_status", "requirement", "shown"]

SCHEMA_VERSION: Final = 1
_MOST_SHOWN: Final = 30
_say = Section("bisect")


@dataclass(frozen=True)
class Bisection:
    """What came of a bisection."""

    findings: Sequence[Finding]
    together: Sequence[str]
    """Changed packages that could not be judged apart."""
    trials: Trials
    seconds: float
    interrupted: bool = False


def exit_status(result: Bisection) -> int:
    """0 where every release is named exactly, 3 where something could not be determined."""
    exact = result.findings and not result.together and all(one.verdict == "found" for one in result.findings)
    return 0 if exact else 3


def requirement(found: Finding) -> str:
    """The line to pin (of Python its version); "" where no release is known to work."""
    if found.package == PYTHON:
        return found.first_repaired if not found.untold_repair and found.first_repaired else found.last_good
    if found.first_repaired and not found.untold_repair:
        return f"{found.package}>={found.first_repaired}"
    return f"{found.package}=={found.last_good}" if found.last_good else ""


def as_json(result: Bisection) -> dict[str, Any]:
    """The whole result; the keys of the first finding stand at the top, all findings under ``findings``."""
    findings = [_finding(one) for one in result.findings]
    first: dict[str, Any] = findings[0] if findings else {"package": "", "verdict": "undetermined"}
    trials = [
        {
            "versions": dict(tried.versions),
            "outcome": tried.outcome,
            "why": tried.why,
            "runs": len(tried.runs),
            "seconds": round(sum(run.seconds for run in tried.runs), 2),
            "held": dict(tried.runs[-1].held),
        }
        for tried in result.trials.tried.values()
        if tried.runs
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        **first,
        "findings": findings,
        "together": list(result.together),
        "flaky": result.trials.needed > 1,
        "interrupted": result.interrupted,
        "runs": result.trials.runs,
        "seconds": round(result.seconds, 1),
        "trials": trials,
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "package": found.package,
        "verdict": found.verdict,
        "last_good": found.last_good or None,
        "first_bad": found.first_bad or None,
        "untold": found.untold,
        "last_bad": found.last_bad or None,
        "first_repaired": found.first_repaired or None,
        "untold_repair": found.untold_repair,
        "pin": requirement(found) or None,
        "why": found.why,
    }


def shown(result: Bisection, lang: str) -> str:
    """The answer, the line to pin, and the trials as a table."""
    lines = [line for one in result.findings for line in _lines(one, lang)]
    if result.interrupted:
        lines.append(_say("interrupted", lang))
    if result.together:
        lines.append(_say("together", lang, packages=", ".join(result.together)))
    if len(result.findings) > 1 and not result.together:
        lines.append(_say("only-together", lang, packages=", ".join(one.package for one in result.findings)))
    if result.trials.needed > 1:
        lines.append(_say("flaky", lang, runs=result.trials.needed))
    tried = [one for one in result.trials.tried.values() if one.runs]
    lines += ["", _say("trials", lang, count=len(tried), runs=result.trials.runs, seconds=f"{result.seconds:.0f}")]
    rows = sorted(tried, key=lambda one: (len(one.versions), tuple(_order(v) for v in one.versions.values())))
    for one in rows[:_MOST_SHOWN]:
        versions = " ".join(f"{name} {version}" for name, version in one.versions.items())
        lines.append(f"  {_say(one.outcome, lang):<8} {versions:<28} {one.why}"[:200].rstrip())
    if len(rows) > _MOST_SHOWN:
        lines.append("  " + _say("more", lang, number=len(rows) - _MOST_SHOWN))
    return "\n".join(lines).lstrip("\n") + "\n"


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else -1 for part in version.replace("+", ".").split("."))


def _lines(found: Finding, lang: str) -> list[str]:
    values = {
        "package": found.package, "good": found.last_good, "bad": found.first_bad, "repaired": found.first_repaired,
        "last": found.last_bad, "why": found.why, "untold": ", ".join(found.untold), "count": len(found.untold),
    }  # fmt: skip
    lines = []
    if found.first_bad and found.last_good:
        lines.append(_say("between" if found.untold else "broke", lang, **values))
    elif found.verdict != "found":
        lines.append(_say(found.verdict, lang, **values))
    if found.first_repaired:
        key = "repaired-between" if found.untold_repair else "repaired"
        lines.append(_say(key, lang, **{**values, "untold": ", ".join(found.untold_repair)}))
    if pin := requirement(found):
        lines.append(_say("pin-python" if found.package == PYTHON else "pin", lang, requirement=pin))
    return lines


class TrialProgress:
    """One line on the terminal while trials run, and one line for each trial that ended; silent where nobody watches."""

    def __init__(self, lang: str, quiet: bool) -> None:
        self._live = not quiet and sys.stderr.isatty()
        self._lang = lang
        self._number = 0

    def __call__(self, tried: RunsOfVersions, ended: bool) -> None:
        if not self._live:
            return
        versions = " ".join(f"{name} {version}" for name, version in tried.versions.items())[:60]
        if not ended:
            self._number += 1
            sys.stderr.write(f"\r\x1b[K… {_say('trying', self._lang, number=self._number, versions=versions)}")
        else:
            run = tried.runs[-1]
            sys.stderr.write(
                f"\r\x1b[K{self._number:>3}. {versions}  {_say(run.outcome, self._lang)}  {run.seconds:.1f} s\n"
            )
        sys.stderr.flush()
