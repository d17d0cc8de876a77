"""Count which reports without a diagnosis are explained: ``python -m benchmarks.explained [--each]``.

Diagnoses the text of each report in ``benchmarks/reports/reports.jsonl`` with the installed entries, and counts those without
a diagnosis that have an explanation instead. The others are counted by why there is none (`Reason`); ``--each`` lists them.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from benchmarks.intervals import share
from benchmarks.score_reports import REPORTS, Report, load
from kb.index.store import MessageIndex, shipped
from troubleshooter.explaining.origin import is_own
from troubleshooter.observe.model import Failure
from troubleshooter.paths import below_packages
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.given import given

Reason = Literal[
    "no failure in the text", "no message", "own code, no rule", "package not in the index", "message not in the index",
    "other place than the frame's", "no frame, message not in the index",
]  # fmt: skip


class Outcome(NamedTuple):
    """What became of a report without a diagnosis. ``reason``: None where it is explained."""

    report: Report
    reason: Reason | None
    package: str
    message: str


def outcomes(reports: Sequence[Report], tool: Diagnoser, index: MessageIndex | None) -> list[Outcome]:
    """The outcomes of those reports that no entry diagnoses."""
    found = []
    for report in reports:
        told = tool.diagnose(report.text)
        if told.diagnoses:
            continue
        failures = [one for one in tool.observe(given(report.text)).failures if one.exception]
        last = failures[-1] if failures else None
        message = f"{last.exception}: {last.message}" if last else ""
        reason = None if told.explained else why_silent(last, index)
        found.append(Outcome(report, reason, _package(last) if last else "", message))
    return found


def why_silent(failure: Failure | None, index: MessageIndex | None) -> Reason:
    """Why a failure has no explanation."""
    if failure is None:
        return "no failure in the text"
    if not failure.message:
        return "no message"
    if failure.frames and is_own(failure.frames[-1]):
        return "own code, no rule"
    package = _package(failure)
    if package and (index is None or index.package(package) is None):
        return "package not in the index"
    if index is not None and index.find(failure.message, failure.exception or None, package or None):
        return "other place than the frame's"
    return "message not in the index" if failure.frames else "no frame, message not in the index"


def _package(failure: Failure) -> str:
    """The package of the innermost frame; "" without one."""
    below = below_packages(failure.frames[-1].path) if failure.frames else ""
    return below.partition("/")[0].removesuffix(".py")


def table(found: Sequence[Outcome]) -> str:
    """The counts, all reports and those of users (not of a project's own repairs) apart."""
    lines = []
    for name, rows in (("all", found), ("reported by users", [one for one in found if one.report.reported])):
        hits = sum(one.reason is None for one in rows)
        lines.append(f"{name}: {hits} of {len(rows)} explained, {share(hits, len(rows))}")
    reasons = Counter(one.reason for one in found if one.reason)
    return "\n".join([*lines, *(f"{count:4}  {reason}" for reason, count in reasons.most_common())])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explained", description=__doc__)
    parser.add_argument("--reports", type=Path, default=REPORTS, help="another file of reports")
    parser.add_argument("--each", action="store_true", help="list the reports that are not explained, by reason")
    options = parser.parse_args()
    found = outcomes(load(options.reports), Diagnoser.load(), shipped())
    if options.each:
        groups: dict[str, list[Outcome]] = defaultdict(list)
        for one in found:
            groups[one.reason or "explained"].append(one)
        for reason, rows in groups.items():
            print(f"## {reason}")
            for one in rows:
                print(f"{one.report.id} {one.report.tracker} [{one.package}] {one.message[:160]!r}")
    print(table(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
