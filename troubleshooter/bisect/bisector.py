"""The way to an answer: which release broke it and which repaired it, or which of many changed packages did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from troubleshooter.bisect.search import Boundary, between, gallop, minimal
from troubleshooter.bisect.trials import Outcome, Trials, Versions

__all__ = ["BisectVerdict", "Change", "Finding", "changed", "one_package"]

BisectVerdict = Literal[
    "found", "between", "no-good-release", "no-bad-release", "not-bad", "not-good", "unstable", "together"
]
"""``found``: exact. ``between``: several releases could not be judged, one of them is it. ``together``: these changes could
not be judged apart. ``not-bad`` and ``not-good``: the versions that were called so are not."""

ATTEMPTS: Final = 3
"""How often a search starts anew after a result did not repeat."""
SURE_RUNS: Final = 8
"""Runs of the versions that are said to fail before they are believed to pass."""


@dataclass
class Finding:
    """What is known of one package. Versions are "" where there is none; ``untold`` lie between last good and first bad."""

    package: str
    verdict: BisectVerdict
    last_good: str = ""
    first_bad: str = ""
    untold: list[str] = field(default_factory=list)
    last_bad: str = ""
    """The last release that fails, where a later one repaired it."""
    first_repaired: str = ""
    untold_repair: list[str] = field(default_factory=list)
    why: str = ""


@dataclass(frozen=True)
class Change:
    """One package that differs between two sets of versions; ``releases`` lists those from the one to the other."""

    package: str
    before: str
    after: str
    releases: Callable[[], Sequence[str]]


def one_package(
    package: str, releases: Sequence[str], trials: Trials, *, fixed: Versions | None = None, good: str = "",
    bad: str = "", likely_bad: Sequence[str] = (), hints: Sequence[str] = (),
) -> Finding:  # fmt: skip
    """Search the releases of one package (oldest first), the ``fixed`` versions beside it.

    ``good`` and ``bad`` are given by the user; without them ``likely_bad`` releases are tried first. ``hints`` are releases at
    which something is known to have changed.
    """
    for _ in range(ATTEMPTS):
        needed = trials.needed
        found = _once(package, releases, trials, fixed or {}, good, bad, likely_bad, hints)
        for version in (found.last_good, found.first_repaired, found.first_bad):
            if version and len(trials.of({package: version, **(fixed or {})}).runs) < 2:
                trials.repeat({package: version, **(fixed or {})})
        if trials.needed == needed:
            return found
    return Finding(package, "unstable", why=f"after {ATTEMPTS} searches the same releases still passed and failed")


def _once(
    package: str, releases: Sequence[str], trials: Trials, fixed: Versions, good: str, bad: str, likely_bad: Sequence[str],
    hints: Sequence[str],
) -> Finding:  # fmt: skip
    def ask(at: int) -> Outcome:
        return trials.ask({package: releases[at], **fixed})

    def why(at: int) -> str:
        return trials.of({package: releases[at], **fixed}).why

    at = {version: number for number, version in enumerate(releases)}
    hinted = sorted(at[version] for version in hints if version in at)
    newest = len(releases) - 1
    first_of_series = [
        number for number, version in enumerate(releases) if number and _begins(version, releases[number - 1])
    ]
    broken: int | None
    if bad:
        broken = at[bad]
        for _ in range(SURE_RUNS if ask(broken) == "good" else 0):
            trials.repeat({package: bad, **fixed})
        if ask(broken) != "bad":
            return Finding(package, "not-bad", first_bad=bad, why=why(broken))
    else:
        first = [at[version] for version in likely_bad if version in at]
        broken = next((number for number in dict.fromkeys([*first, newest]) if ask(number) == "bad"), None)
        if broken is None:
            broken = gallop(newest, 0, ask, "bad", hinted)
        if broken is None:
            return Finding(package, "no-bad-release", why=why(newest))
    if good:
        fine: int | None = at[good]
        if ask(at[good]) != "good":
            return Finding(package, "not-good", last_good=good, why=why(at[good]))
    else:
        fine = (
            gallop(broken, 0, ask, "good", [number - 1 for number in hinted if 0 < number <= broken])
            if broken
            else None
        )
    result = Finding(package, "found")
    if fine is not None and fine > broken:
        _repaired(result, between(fine, broken, ask, "bad", [number - 1 for number in hinted]), releases)
        fine = (
            gallop(broken, 0, ask, "good", [number - 1 for number in hinted if 0 < number <= broken])
            if broken
            else None
        )
    elif broken != newest and ask(newest) == "good":
        _repaired(result, between(newest, broken, ask, "bad", [number - 1 for number in hinted]), releases)
    if fine is None:
        if not result.first_repaired:
            result.verdict, result.first_bad = "no-good-release", releases[broken]
            result.why = why(0)
        return result
    edge = between(fine, broken, ask, "bad", hinted, first_of_series)
    result.last_good, result.first_bad = releases[edge.last], releases[edge.first]
    result.untold = [releases[number] for number in edge.untold]
    if edge.untold:
        result.verdict, result.why = "between", why(edge.untold[0])
    return result


def _begins(version: str, before: str) -> bool:
    """Whether a release begins a series: its first two numbers differ from those of the release before."""
    return version.split(".")[:2] != before.split(".")[:2]


def _repaired(result: Finding, edge: Boundary, releases: Sequence[str]) -> None:
    result.first_repaired, result.last_bad = releases[edge.last], releases[edge.first]
    result.untold_repair = [releases[number] for number in edge.untold]


def changed(changes: Sequence[Change], trials: Trials) -> tuple[list[Finding], list[str]]:
    """Which of many changed packages make the difference, and at which release of each; the likeliest come first.

    Returns a finding for each package that is needed, and the packages that could not be judged apart.
    """
    before = {change.package: change.before for change in changes}
    after = {change.package: change.after for change in changes}

    def versions(chosen: frozenset[int]) -> dict[str, str]:
        return {
            change.package: change.after if number in chosen else change.before for number, change in enumerate(changes)
        }

    if trials.ask(after) != "bad":
        return [Finding("", "not-bad", why=trials.of(after).why)], []
    if trials.ask(before) != "good":
        return [Finding("", "not-good", why=trials.of(before).why)], []
    needed, together = minimal(len(changes), lambda chosen: trials.ask(versions(chosen)))
    findings = []
    for number in sorted(needed):
        change = changes[number]
        fixed = {name: version for name, version in versions(needed | together).items() if name != change.package}
        findings.append(_steps(change, trials, fixed))
    return findings, [changes[number].package for number in sorted(together)]


def _steps(change: Change, trials: Trials, fixed: Mapping[str, str]) -> Finding:
    """The release of one needed package that makes the difference, the others as they fail."""
    row = change.releases()
    edge = between(0, len(row) - 1, lambda at: trials.ask({change.package: row[at], **fixed}), "bad")
    untold = [row[number] for number in edge.untold]
    return Finding(
        change.package,
        "between" if untold else "found",
        last_good=row[edge.last],
        first_bad=row[edge.first],
        untold=untold,
        why=trials.of({change.package: untold[0], **fixed}).why if untold else "",
    )
