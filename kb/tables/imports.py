"""Pairs of packages that cannot be imported together: a name that one needs and the other's release lacks."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from kb.tables.plan import PACKAGES, Plan
from kb.tables.spans import Span, spans
from kb.tables.surface import Surface


def needs_of(surface: Surface, provider: Plan) -> dict[tuple[str, str], str]:
    """What a release imports from the provider without a guard, with one importing module (the shortest path)."""
    found: dict[tuple[str, str], str] = {}
    for module in sorted(surface.modules, key=lambda item: (item.count("."), item)):
        for source, name in surface.modules[module].needs:
            if source.split(".")[0] == provider.module:
                found.setdefault((source, name), module)
    return found


def declared_range(surface: Surface, provider: Plan) -> Requirement | None:
    """The unconditional requirement on the provider in the release's metadata."""
    wanted = re.sub(r"[-_.]+", "-", provider.package).lower()
    for line in surface.requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if re.sub(r"[-_.]+", "-", requirement.name).lower() == wanted and requirement.marker is None:
            return requirement
    return None


def import_rows(consumer: list[Surface], provider: list[Surface]) -> list[dict[str, object]]:
    """One row for each needed name and run of consumer releases that some provider release does not satisfy."""
    plan, other = PACKAGES[consumer[0].package], PACKAGES[provider[0].package]
    versions = [surface.version for surface in provider]
    tables = [needs_of(surface, other) for surface in consumer]
    ranges = [declared_range(surface, other) for surface in consumer]
    caches: list[dict[str, set[str]]] = [{} for _ in provider]
    rows: list[dict[str, object]] = []
    for module, name in sorted({need for table in tables for need in table}):
        there = [surface.offers(module, name, caches[index]) for index, surface in enumerate(provider)]
        known = spans(there, versions)
        if not known:
            continue
        for boundary, rest in _boundaries(known[0], known[-1]):
            allowed = [_admits(requirement, boundary, rest, versions) for requirement in ranges]
            # Releases whose metadata rules the bad provider out are kept apart from those that let it in.
            for admitted in (True, False):
                states = [(module, name) in table and allowed[i] is admitted for i, table in enumerate(tables)]
                if rest == "below" and not admitted:
                    continue
                for span in _runs(states):
                    first, last = span
                    following = next(
                        (c.version for i, c in enumerate(consumer) if i > last and (module, name) not in tables[i]),
                        None,
                    )
                    rows.append(
                        {
                            "consumer": plan.package,
                            "consumer_module": tables[last][module, name],
                            "consumer_from": consumer[first].version,
                            "consumer_to": consumer[last].version,
                            "consumer_next": following,
                            "provider": other.package,
                            "module": module,
                            "name": name or None,
                            "provider_missing_from": boundary if rest == "from" else None,
                            "provider_missing_below": boundary if rest == "below" else None,
                            "provider_last_with": known[-1].until_before if rest == "from" else None,
                            "declared": not admitted,
                            "fix": _fix(plan.package, following, other.package, boundary, rest),
                        }
                    )
    return rows


def _boundaries(first: Span, last: Span) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if first.since:
        found.append((first.since, "below"))
    if last.until:
        found.append((last.until, "from"))
    return found


def _admits(requirement: Requirement | None, boundary: str, rest: str, versions: list[str]) -> bool:
    """Whether the declared range lets in at least one scanned provider release that lacks the name."""
    limit = Version(boundary)
    bad = [v for v in versions if (Version(v) < limit if rest == "below" else Version(v) >= limit)]
    return requirement is None or any(requirement.specifier.contains(v) for v in bad)


def _runs(states: list[bool]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start: int | None = None
    for index, state in enumerate([*states, False]):
        if state and start is None:
            start = index
        elif not state and start is not None:
            found.append((start, index - 1))
            start = None
    return found


def _fix(consumer: str, following: str | None, provider: str, boundary: str, rest: str) -> str:
    if rest == "below":
        return f"{provider}>={boundary}"
    return f"{provider}<{boundary}" + (f" or {consumer}>={following}" if following else "")
