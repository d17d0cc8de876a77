"""Command line: ``python -m kb.tables api``, ``members`` and ``imports`` (see the package docstring)."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.version import Version

from kb.compile.tables import told_by
from kb.tables.imports import import_rows
from kb.tables.members import Classes, cached_members, classes_of_release, member_rows
from kb.tables.names import Wanted, imported_elsewhere, model_rows, name_rows
from kb.tables.parameters import inheritance_rows, parameter_rows
from kb.tables.plan import PACKAGES, Plan, first_patches, releases_to_scan
from kb.tables.releases import SURFACE, DownloadError, available_versions, surface_of_release
from kb.tables.replacements import load_replacements, merge
from kb.tables.surface import FORM, Surface

Rows = list[dict[str, object]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m kb.tables", description=__doc__)
    parser.add_argument("what", choices=("api", "members", "imports"))
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="default: every package of the plan")
    parser.add_argument("--versions", help="comma-separated releases instead of the plan's (one PACKAGE only)")
    parser.add_argument("--out", type=Path, default=Path("entries/tables/api"))
    parser.add_argument("--cache", type=Path, help="where surfaces are kept (default: a temporary folder)")
    parser.add_argument("--offline", action="store_true", help="only the releases that the cache already holds")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.packages) - set(PACKAGES))
    if unknown:
        parser.error(
            f"unknown package {', '.join(unknown)}; known: {', '.join(PACKAGES)} (add others to kb/tables/plan.py)"
        )
    if options.versions and len(options.packages) != 1:
        parser.error("--versions needs exactly one PACKAGE")
    if options.offline and not options.cache:
        parser.error("--offline needs --cache, the folder of an earlier run")
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        options.out.mkdir(parents=True, exist_ok=True)
        chosen = [PACKAGES[name] for name in options.packages or PACKAGES]
        if options.what == "api":
            tables = [plan for plan in chosen if plan.tables]
            return _api(tables, options.versions, cache, options.out, offline=options.offline)
        if options.what == "members":
            plans = [plan for plan in chosen if plan.members]
            return _members(plans, options.versions, cache, options.out, offline=options.offline)
        return _imports(chosen, cache, options.out, offline=options.offline)


def scan(plan: Plan, versions: str | None, cache: Path, *, offline: bool = False) -> list[Surface]:
    """The surfaces of the wanted releases, oldest first; a release that pip cannot bring is reported and left out."""
    if versions:
        wanted = versions.split(",")
    elif offline:
        found = cache.glob(f"form{FORM}/{plan.package}/*.json")
        wanted = sorted((path.stem for path in found), key=Version)
    else:
        wanted = releases_to_scan(available_versions(plan.package), plan)
    surfaces: list[Surface] = []
    for version in wanted:
        try:
            surfaces.append(surface_of_release(plan, version, cache))
        except DownloadError as error:
            print(f"left out: {error}", file=sys.stderr)
    return surfaces


def _api(plans: list[Plan], versions: str | None, cache: Path, out: Path, *, offline: bool) -> int:
    replacements = load_replacements(out / "replacements.yaml") if (out / "replacements.yaml").exists() else []
    inherited: Rows = []
    scanned: Rows = []
    for plan in plans:
        surfaces = scan(plan, versions, cache, offline=offline)
        if len(surfaces) < 2:
            print(f"{plan.package}: two releases are needed to compare, {len(surfaces)} read", file=sys.stderr)
            return 2
        parameters = parameter_rows(surfaces, plan) if plan.parameters else []
        names = name_rows(surfaces, plan, wanted_of(plan, cache))
        for item in merge([*parameters, *names], [item for item in replacements if item.package == plan.package]):
            print(f"replacements.yaml: no row for {item.package} {item.kind} {item.owner} {item.name}", file=sys.stderr)
        inherited += inheritance_rows(surfaces, plan, PACKAGES) if plan.parameters else []
        scanned.append({"package": plan.package, "versions": [surface.version for surface in surfaces]})
        write(out / f"parameters-{plan.package}.jsonl", parameters)
        write(out / f"names-{plan.package}.jsonl", names)
        if plan.package == "transformers":
            write(out / "models-transformers.jsonl", model_rows(surfaces))
        print(f"{plan.package}: {len(surfaces)} releases, {len(parameters)} parameter rows, {len(names)} name rows")
    replace(out / "inherits.jsonl", inherited, {plan.package for plan in plans}, "package")
    replace(out / "scanned.jsonl", scanned, {plan.package for plan in plans}, "package")
    return 0


def _members(plans: list[Plan], versions: str | None, cache: Path, out: Path, *, offline: bool) -> int:
    for plan in plans:
        if versions:
            wanted = versions.split(",")
        elif offline:
            wanted = sorted((path.stem for path in cached_members(plan, cache)), key=Version)
        else:
            wanted = first_patches(available_versions(plan.package), plan)
        releases: dict[str, Classes] = {}
        for version in wanted:
            try:
                releases[version] = classes_of_release(plan, version, cache)
            except DownloadError as error:
                print(f"left out: {error}", file=sys.stderr)
        rows = member_rows(releases, plan)
        write(out / f"members-{plan.package}.jsonl", rows)
        print(f"{plan.package}: {len(releases)} releases, {len(rows)} rows of attributes")
    return 0


def wanted_of(plan: Plan, cache: Path) -> Wanted:
    """What the cached releases of the other packages import from this one."""
    found: set[tuple[str, str]] = set()
    for other in PACKAGES.values():
        if other.package != plan.package:
            found |= imported_elsewhere(cached(other, cache), plan.module)
    return frozenset(found)


def cached(plan: Plan, cache: Path) -> Iterable[Surface]:
    """The surfaces that an earlier run left in the cache."""
    for path in sorted(cache.glob(f"form*/{plan.package}/*.json")):
        yield SURFACE.validate_json(path.read_bytes())


def _imports(plans: list[Plan], cache: Path, out: Path, *, offline: bool) -> int:
    surfaces = {plan.package: scan(plan, None, cache, offline=offline) for plan in plans}
    rows: Rows = []
    for provider in plans:
        if not provider.tables:
            continue
        for consumer in plans:
            if consumer is not provider and surfaces[consumer.package] and surfaces[provider.package]:
                rows += import_rows(surfaces[consumer.package], surfaces[provider.package])
    order = ("consumer", "provider", "module", "name", "consumer_from", "provider_missing_from")
    rows.sort(key=lambda row: [str(row[column]) for column in order])
    write(out / "imports.jsonl", rows)
    print(f"{len(rows)} pairs")
    return 0


def replace(path: Path, rows: Rows, packages: set[str], column: str) -> None:
    """Replace the rows of the packages that were scanned in this run, and keep all other rows."""
    kept: Rows = []
    if path.exists():
        kept = [json.loads(line) for line in path.read_bytes().splitlines()]
    merged = [*(row for row in kept if row[column] not in packages), *rows]
    write(path, sorted(merged, key=lambda row: str(row[column])))


def write(path: Path, rows: Rows) -> None:
    """JSON Lines, one row a line, in the given order; left out are columns that are null or false, and what the file's
    name tells of each row (`kb.compile.tables.table_rows`)."""
    told: dict[str, object] = {**told_by(path)}
    lines = [
        {
            key: value
            for key, value in row.items()
            if value is not None and value is not False and (key not in told or told[key] != value)
        }
        for row in rows
    ]
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
