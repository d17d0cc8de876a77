"""Rows about names that can be imported: since and until which release, and where a name lives afterwards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase

from kb.tables.plan import Plan
from kb.tables.spans import Span, spans
from kb.tables.surface import Surface
from kb.text.catalog import ENGLISH, Section, languages

_WORDS = Section("tables")
Wanted = frozenset[tuple[str, str]]
"""(module, name) pairs that other packages import: kept even where they are private or re-exports."""

FAMILIES = (
    "*_PRETRAINED_MODEL_ARCHIVE_LIST", "*_PRETRAINED_CONFIG_ARCHIVE_MAP", "load_tf_weights_in_*", "TF_*", "FLAX_*",
    "TF[A-Z]*", "Flax[A-Z]*", "*OnnxConfig", "*FeatureExtractor", "*ImageProcessorFast",
)  # fmt: skip
"""Names that come and go in great numbers, by one pattern."""


def imported_elsewhere(consumers: Iterable[Surface], module: str) -> Wanted:
    """What the given releases import from the package called `module`, at the top level of their files."""
    found: set[tuple[str, str]] = set()
    for surface in consumers:
        for inner in surface.modules.values():
            for origin in inner.names.values():
                source, _, name = origin.partition(":")
                if name and source.split(".")[0] == module:
                    found.add((source, name))
    return frozenset(found)


def name_rows(surfaces: list[Surface], plan: Plan, wanted: Wanted) -> list[dict[str, object]]:
    """Rows of kind "name" and "module"; transformers' model classes keep only their removals."""
    versions = [surface.version for surface in surfaces]
    by_version = {surface.version: surface for surface in surfaces}
    homes = {version: _Homes(surface, plan) for version, surface in by_version.items()}
    rows = _module_rows(surfaces, plan, wanted, homes)
    tables = [_offered(surface, plan, wanted) for surface in surfaces]
    for module in sorted({module for table in tables for module in table}):
        names = {name for table in tables for name in table.get(module, ())}
        caches: list[dict[str, set[str]]] = [{} for _ in surfaces]
        for name in sorted(names):
            asked = (module, name) in wanted
            states: list[bool | None] = []
            for index, surface in enumerate(surfaces):
                if module not in surface.modules:
                    states.append(None)
                else:
                    # A name that is no longer defined there may still be importable: the module imports it itself.
                    states.append(surface.offers(module, name, caches[index]))
            for span in spans(states, versions):
                if span.changed and _worth(plan, module, name, span, by_version, asked=asked):
                    rows.append(_row(plan, "name", module, name, span, homes))
    rows = _families(settled(rows))
    return sorted(rows, key=lambda row: (str(row["module"]), str(row["name"]), str(row["kind"]), str(row["since"])))


def settled(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows with the home of a name in the newest release, or the last one that it had, and up to which release."""
    left: dict[tuple[object, object], dict[str, object]] = {}
    for row in rows:
        if row["until"]:
            left.setdefault((row["module"], row["name"]), row)
    for row in rows:
        if not row["until"]:
            left.pop((row["module"], row["name"]), None)
    return [row | _last_home(row, left) if row["moved_to"] else row for row in rows]


def _last_home(row: dict[str, object], left: dict[tuple[object, object], dict[str, object]]) -> dict[str, object]:
    home, until, seen = row["moved_to"], None, {row["module"]}
    while home not in seen:
        seen.add(home)
        end = left.get((home, row["name"])) or left.get((home, ""))
        if end is None:
            until = None
            break
        until = end["until"]
        if not end["moved_to"] or end["moved_to"] in seen:
            break
        home = end["moved_to"]
    if until is None:
        return {"moved_to": home}
    when = {
        "moved_when" + ("" if code == ENGLISH else f"_{code}"): _WORDS("until", code, release=until)
        for code in languages()
    }
    return {"moved_to": home, **when}


def _families(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Folds names that vanished together and follow one pattern into one row of kind "family" (name = glob)."""
    kept: list[dict[str, object]] = []
    families: dict[tuple[object, ...], dict[str, object]] = {}
    alone: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rows:
        glob = next((glob for glob in FAMILIES if fnmatchcase(str(row["name"]), glob)), None)
        if glob is None or row["kind"] != "name" or not row["until"] or row["moved_to"]:
            kept.append(row)
            continue
        key = (row["module"], glob, row["until"])
        alone[key] = row
        first = families.setdefault(key, row | {
            "kind": "family", "name": glob, "since": None, "since_before": None, "members": 0,
        })  # fmt: skip
        first["members"] = int(str(first["members"])) + 1
    return [*kept, *(alone[key] if row["members"] == 1 else row for key, row in families.items())]


def _offered(surface: Surface, plan: Plan, wanted: Wanted) -> dict[str, set[str]]:
    """The names worth a row, by module: definitions, a package's re-exports, and whatever others import."""
    table: dict[str, set[str]] = {}
    for module, found in surface.modules.items():
        if found.shallow or any(part.startswith("_") for part in module.split(".")):
            continue
        names: set[str] = set()
        if found.path.endswith("__init__.py"):
            if not _is_model(plan, module):
                for name in surface.names_of(module):
                    origin = surface.resolve(module, name)
                    if origin and origin[1] and origin[0].split(".")[0] == plan.module and not name.startswith("_"):
                        names.add(name)
        else:
            names.update(found.classes)
            names.update(found.functions)
            names.update(name for name, origin in found.names.items() if origin == "" and name[0].isupper())
            names = {name for name in names if not name.startswith("_")}
        table[module] = names
    for module, name in wanted:
        if module in surface.modules:
            table.setdefault(module, set()).add(name)
    return table


def _is_model(plan: Plan, module: str) -> bool:
    return plan.package == "transformers" and module.startswith("transformers.models")


def _worth(plan: Plan, module: str, name: str, span: Span, surfaces: dict[str, Surface], *, asked: bool) -> bool:
    if asked:
        return True
    if "dummy_" in module or plan.is_quiet(module) or (span.until is None and not plan.appearances):
        return False
    if plan.package != "transformers":
        return True
    if _is_model(plan, module):
        return span.until is not None and span.since is None
    if module == plan.module and span.until is None:
        origin = surfaces[max(surfaces, key=list(surfaces).index)].resolve(module, name)
        return not (origin and _is_model(plan, origin[0]))
    return True


def _is_stand_in(module: str) -> bool:
    """Whether a module only holds classes that raise: for a library that is missing, or for what was taken away."""
    parts = module.split(".")
    return "_graveyard" in parts or any(part.startswith("dummy_") and part.endswith("_objects") for part in parts)


class _Homes:
    """Where public names are defined in one release."""

    def __init__(self, surface: Surface, plan: Plan) -> None:
        self.surface = surface
        self.plan = plan
        self.exported = surface.names_of(plan.module)
        self.defined: dict[str, list[str]] = defaultdict(list)
        for module, found in surface.modules.items():
            if not found.shallow and not found.aliases and not _is_stand_in(module):
                for name in (*found.classes, *found.functions):
                    self.defined[name].append(module)

    def find(self, name: str, lost_from: str) -> str | None:
        """The module to import `name` from, or None when the release has it nowhere, or in too many places."""
        if name in self.exported and lost_from != self.plan.module:
            return self.plan.module
        modules = sorted(set(self.defined.get(name, ())), key=lambda module: (len(module), module))
        usable = [module for module in modules if module != lost_from and ".models." not in module]
        return self._shortest(usable[0], name) if len(usable) == 1 else None

    def _shortest(self, module: str, name: str) -> str:
        """The outermost package (not the root) that re-exports the name: people import from there."""
        parts = module.split(".")
        for depth in range(2, len(parts)):
            parent = ".".join(parts[:depth])
            if self.surface.resolve(parent, name) == (module, name):
                return parent
        return module


def _row(plan: Plan, kind: str, module: str, name: str, span: Span, homes: dict[str, _Homes]) -> dict[str, object]:
    moved = homes[span.until].find(name, module) if span.until and kind == "name" else None
    return {
        "package": plan.package,
        "kind": kind,
        "module": module,
        "name": name,
        "since": span.since,
        "since_before": span.since_before,
        "until": span.until,
        "until_before": span.until_before,
        "moved_to": moved,
    }


def _module_rows(
    surfaces: list[Surface], plan: Plan, wanted: Wanted, homes: dict[str, _Homes]
) -> list[dict[str, object]]:
    versions = [surface.version for surface in surfaces]
    by_version = {surface.version: surface for surface in surfaces}
    asked = {module for module, _ in wanted}
    rows: list[dict[str, object]] = []
    for module in sorted({module for surface in surfaces for module in surface.modules}):
        private = any(part.startswith("_") for part in module.split("."))
        if (private or (_is_model(plan, module) and module.count(".") > 2)) and module not in asked:
            continue
        for span in spans([module in surface.modules for surface in surfaces], versions):
            unwanted = "dummy_" in module or (span.until is None and (plan.is_quiet(module) or not plan.appearances))
            if not span.changed or (unwanted and module not in asked):
                continue
            if _is_model(plan, module) and span.until is None and module not in asked:
                continue
            parent = module.rpartition(".")[0]
            if module not in asked and span.since and parent not in by_version[span.since_before or ""].modules:
                continue
            row = _row(plan, "module", module, "", span, homes)
            if span.until:
                row["moved_to"] = _where_names_went(by_version[span.until_before or ""], module, homes[span.until])
            rows.append(row)
    return rows


def _where_names_went(before: Surface, module: str, after: _Homes) -> str | None:
    """The module that now defines at least half of what the lost one, or a module below it, defined.

    What it had only imported tells nothing: the helpers of any module live somewhere.
    """
    own = 0
    places: Counter[str] = Counter()
    for name in before.names_of(module):
        origin = before.resolve(module, name)
        if origin is None or name.startswith("_") or not f"{origin[0]}.".startswith(f"{module}."):
            continue
        own += 1
        candidates = {home for home in after.defined.get(name, ()) if home != module}
        if len(candidates) == 1:
            places[candidates.pop()] += 1
    best = sorted(places.items(), key=lambda item: (-item[1], item[0]))
    return best[0][0] if best and 2 * best[0][1] >= own else None


def model_rows(surfaces: list[Surface]) -> list[dict[str, object]]:
    """transformers' model types with the release that brought (or dropped) each."""
    versions = [surface.version for surface in surfaces]
    prefixes: dict[str, str] = {}
    for surface in surfaces:
        prefixes.update(surface.model_types)
    rows: list[dict[str, object]] = []
    for model_type in sorted(prefixes):
        for span in spans([model_type in surface.model_types for surface in surfaces], versions):
            if span.changed:
                rows.append(
                    {"model_type": model_type, "class_prefix": prefixes[model_type].removesuffix("Config"),
                     "since": span.since, "since_before": span.since_before,
                     "until": span.until, "until_before": span.until_before}
                )  # fmt: skip
    return rows
