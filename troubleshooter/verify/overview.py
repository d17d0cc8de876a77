"""``troubleshoot verify`` without a target: which entries affect an environment, by their version ranges alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from troubleshooter.verify import judge, present, subject
from troubleshooter.verify.entry import ranges, standing
from troubleshooter.verify.interpreters import find
from troubleshooter.verify.verdict import SCHEMA_VERSION
from troubleshooter.verify.words import say


def overview(python: str | None, format: str, entries: Sequence[Path], lang: str) -> int:
    """Compare the version ranges of all entries with one environment, and print those that affect it. No probe runs.

    Returns 3 if the installed versions are in the ranges of an entry, else 0. Raises `EnvironmentProblem`.
    """
    reach = subject.reach(entries, lang)
    packages = {package for one in reach.with_versions for package in one.versions}
    found = find(python, (), sorted(packages))
    inside = [one for one in reach.with_versions if standing(one, found.environment)[0] == "inside"]
    if format == "json":
        shown = {
            "schema_version": SCHEMA_VERSION,
            "environment": {"python": found.environment.python, "versions": dict(found.environment.versions)},
            "knowledge": {
                "failures": reach.failures, "with_probe": reach.probes, "with_versions": len(reach.with_versions),
                "checkable": reach.checkable,
            },
            "entries": [
                {**judge.by_versions(one, found.environment, lang).as_json(), "title": one.title} for one in inside
            ],
        }  # fmt: skip
        print(json.dumps(shown, ensure_ascii=False, indent=1))
    else:
        lines = [say("affected-list", lang, count=len(inside), total=len(reach.with_versions))]
        for one in inside:
            more = f"  → troubleshoot verify {one.id}" if one.probe else ""
            lines += [f"  {one.id}: {ranges(one)}{more}", f"      {present.plain(one.title)}"]
        share = f"{100 * reach.checkable / max(1, reach.failures):.0f}"
        counts = {"failures": reach.failures, "probes": reach.probes, "ranges": len(reach.with_versions)}
        lines.append(say("reach", lang, share=share, checkable=reach.checkable, **counts))
        lines.append(say("asked", lang, python=found.environment.python, why=say(found.why, lang)))
        present.write("\n".join(lines) + "\n")
    return 3 if inside else 0
