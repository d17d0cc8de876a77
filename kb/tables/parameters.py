"""Rows about arguments: which keyword a class, function or method takes, since and until which release."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from kb.tables.plan import Plan, other_framework
from kb.tables.spans import spans
from kb.tables.surface import ClassSurface, Signature, Surface

Key = tuple[str, str]
"""(owner, method); method is "" for a plain function."""

SPEAKING_THROUGH = frozenset(
    {"from_pretrained", "save_pretrained", "push_to_hub", "generate", "load_dataset", "from_config", "load_metric"}
)
"""Callables whose **kwargs are passed to something that rejects unknown names; others ignore such an argument silently."""

MODEL_OWNER = re.compile(r"(?:ForCausalLM|ForConditionalGeneration|ForSequenceClassification|RotaryEmbedding)$")


class Offer:
    """One callable in one release."""

    __slots__ = ("catch_all", "module", "parameters", "taken")

    def __init__(self, module: str, signature: Signature) -> None:
        self.module = module
        self.parameters = set(signature.parameters)
        self.taken = set(signature.taken) - self.parameters
        self.catch_all = signature.catch_all


def callables_of(surface: Surface, plan: Plan) -> dict[Key, Offer]:
    """Every public callable, under the name that Python prints: the exported definition wins over a namesake."""
    root = surface.modules.get(plan.module)
    exported: dict[str, str] = {}
    for name in surface.names_of(plan.module) if root else ():
        origin = surface.resolve(plan.module, name)
        if origin is not None and origin[1] == name:
            exported[name] = origin[0]
    homes: dict[str, list[str]] = defaultdict(list)
    for module, found in surface.modules.items():
        if module in (alias for alias in found.aliases):
            continue
        for name in (*found.classes, *found.functions):
            if not name.startswith("_"):
                homes[name].append(module)
    result: dict[Key, Offer] = {}
    for name, modules in homes.items():
        unique = sorted(set(modules), key=lambda module: (surface.modules[module].path, module))
        home = exported.get(name) if exported.get(name) in unique else None
        if home is None:
            if len({surface.modules[module].path for module in unique}) > 1:
                continue
            home = unique[0]
        _add(result, surface, plan, home, name)
    return result


def _add(result: dict[Key, Offer], surface: Surface, plan: Plan, module: str, name: str) -> None:
    found = surface.modules[module]
    if plan.is_quiet(module) or other_framework(name):
        return
    if name in found.functions:
        if not _is_model(plan, module):
            result[name, ""] = Offer(module, found.functions[name])
        return
    cls = found.classes[name]
    for method, signature in cls.methods.items():
        if not _is_model(plan, module) or (method in ("__init__", "forward") and MODEL_OWNER.search(name)):
            result[name, method] = Offer(module, signature)
    if "__init__" not in cls.methods and cls.dataclass:
        fields = fields_of(surface, module, name)
        result[name, "__init__"] = Offer(module, Signature(tuple(fields)))


def _is_model(plan: Plan, module: str) -> bool:
    return plan.package == "transformers" and module.startswith("transformers.models.")


def fields_of(surface: Surface, module: str, name: str, depth: int = 0) -> list[str]:
    """The dataclass fields of a class and of its bases inside the package."""
    cls = surface.modules[module].classes.get(name) if module in surface.modules else None
    if cls is None or depth > 8:
        return []
    fields: list[str] = []
    for base_module, base in bases_of(surface, module, cls):
        fields += fields_of(surface, base_module, base, depth + 1)
    return [*fields, *cls.fields]


def bases_of(surface: Surface, module: str, cls: ClassSurface) -> list[tuple[str, str]]:
    """Where each base is defined; bases of other packages come back with that package's module."""
    found: list[tuple[str, str]] = []
    for base in cls.bases:
        head, _, tail = base.partition(".")
        origin = surface.resolve(module, head)
        if origin is None:
            continue
        if not tail:
            found.append(origin)
        else:
            found.append((".".join(part for part in (*origin, *tail.split(".")[:-1]) if part), tail.split(".")[-1]))
    return found


def parameter_rows(surfaces: list[Surface], plan: Plan) -> list[dict[str, object]]:
    """One row for each argument that appears or disappears while its owner stays."""
    versions = [surface.version for surface in surfaces]
    tables = [callables_of(surface, plan) for surface in surfaces]
    rows: list[dict[str, object]] = []
    for key in sorted({key for table in tables for key in table}):
        owners = [table.get(key) for table in tables]
        names = {name for owner in owners if owner for name in (*owner.parameters, *owner.taken)}
        for name in sorted(names):
            if name.startswith("_"):
                continue
            states = [None if o is None else name in o.parameters or name in o.taken for o in owners]
            for span in spans(states, versions):
                if not span.changed:
                    continue
                index = versions.index(span.until_before) if span.until_before else _last(states)
                owner = owners[index]
                assert owner is not None
                after = owners[versions.index(span.until)] if span.until else owner
                earlier = owners[versions.index(span.since_before)] if span.since_before else None
                swallowed = _swallows(span.until, after, earlier)
                if swallowed and not SPEAKING_THROUGH & set(key):
                    continue
                rows.append(
                    {
                        "package": plan.package,
                        "owner": key[0],
                        "method": key[1] or None,
                        "module": owner.module,
                        "name": name,
                        "since": span.since,
                        "since_before": span.since_before,
                        "until": span.until,
                        "until_before": span.until_before,
                        "catch_all": swallowed,
                        "taken_from_kwargs": name in owner.taken,
                    }
                )
    return rows


def _last(states: Iterable[bool | None]) -> int:
    return max(index for index, state in enumerate(states) if state)


def _swallows(until: str | None, after: Offer | None, earlier: Offer | None) -> bool:
    """True if the release without the argument accepts it silently through **kwargs."""
    without = after if until else earlier
    return bool(without and without.catch_all)


def inheritance_rows(surfaces: list[Surface], plan: Plan, packages: dict[str, Plan]) -> list[dict[str, object]]:
    """Classes whose arguments come from a class of another scanned package (SFTConfig from TrainingArguments)."""
    modules = {other.module: other.package for other in packages.values()}
    versions = [surface.version for surface in surfaces]
    seen: dict[tuple[str, str, str], list[bool]] = {}
    for index, surface in enumerate(surfaces):
        for module, found in surface.modules.items():
            for name, cls in found.classes.items():
                if name.startswith("_"):
                    continue
                for base_module, base in _outer_bases(surface, module, cls):
                    package = modules.get(base_module.split(".")[0])
                    if package and package != plan.package:
                        seen.setdefault((name, package, base), [False] * len(surfaces))[index] = True
    rows: list[dict[str, object]] = []
    for (name, package, base), present in sorted(seen.items()):
        for span in spans(present, versions):
            rows.append(
                {"package": plan.package, "owner": name, "base_package": package, "base": base,
                 "since": span.since, "until": span.until}
            )  # fmt: skip
    return rows


def _outer_bases(surface: Surface, module: str, cls: ClassSurface, depth: int = 0) -> Iterable[tuple[str, str]]:
    for base_module, base in bases_of(surface, module, cls):
        inner = surface.modules.get(base_module)
        if inner is None:
            yield base_module, base
        elif base in inner.classes and depth < 8:
            yield from _outer_bases(surface, base_module, inner.classes[base], depth + 1)
