"""Rows about attributes: which method, property or field the objects of a class have, since and until which release."""

from __future__ import annotations

import ast
import json
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from kb.tables.parse import dotted
from kb.tables.plan import Plan, other_framework
from kb.tables.releases import archive, keep, modules_of
from kb.tables.spans import spans

FORM = 2
"""The version of the cached form. Increase it when the form changes, so that old caches are not read."""

FAMILIES = {
    "PreTrainedConfig": ("*Config",), "Trainer": ("*Trainer",),
    "TrainingArguments": ("*TrainingArguments", "*TrainingArgs"), "PreTrainedTokenizerBase": ("*Tokenizer", "*TokenizerFast"),
    "PreTrainedTokenizer": ("*Tokenizer",), "PreTrainedTokenizerFast": ("*TokenizerFast",), "ProcessorMixin": ("*Processor",),
    "PreTrainedModel": ("*For[A-Z]*", "*Model"), "GenerationMixin": ("*For[A-Z]*", "*Model"),
}  # fmt: skip
"""Base classes that many classes derive from, inside and outside the package, with a pattern for the derived names."""

MANY = 20
"""If at least this many classes of a family changed alike, one row with the family's pattern replaces theirs."""
RENAMED = {"PretrainedConfig": "PreTrainedConfig"}
"""Base classes that were renamed (transformers 5)."""

Classes = dict[str, tuple[list[str], list[str]]]
"""By class name: the names of its bases, and its own attributes. Classes with the same name are merged."""


def classes_of_release(plan: Plan, version: str, cache: Path) -> Classes:
    """The classes of one release, from the cache or from a fresh download. Raises `releases.DownloadError`."""
    kept = cache / f"members{FORM}" / plan.package / f"{version}.json"
    if kept.exists():
        return _renamed({name: (bases, members) for name, (bases, members) in json.loads(kept.read_bytes()).items()})
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    with tempfile.TemporaryDirectory() as folder:
        for module, path, source in modules_of(archive(plan, version, Path(folder)), plan):
            if plan.tells_members(module) and "class " in source:
                for name, bases, members in read_classes(source, path):
                    found[name][0].update(bases)
                    found[name][1].update(members)
    classes = {name: (sorted(bases), sorted(members)) for name, (bases, members) in sorted(found.items())}
    keep(kept, json.dumps(classes).encode())
    return _renamed(classes)


def _renamed(classes: Classes) -> Classes:
    return {
        RENAMED.get(name, name): ([RENAMED.get(base, base) for base in bases], members)
        for name, (bases, members) in classes.items()
    }


def cached_members(plan: Plan, cache: Path) -> Iterable[Path]:
    """The files of the package's releases that earlier runs left in the cache."""
    return (cache / f"members{FORM}" / plan.package).glob("*.json")


def read_classes(source: str, path: str) -> Iterable[tuple[str, set[str], set[str]]]:
    """Each class at the top of a module: its name, its bases' names, and the attributes that it or its methods set."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError):
        return
    stack: list[ast.stmt] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.ClassDef):
            bases = {name for base in node.bases if (name := _last_name(base))}
            yield node.name, bases, set(_members(node))
        elif isinstance(node, (ast.If, ast.Try)):
            stack += [*node.body, *node.orelse, *(s for h in getattr(node, "handlers", ()) for s in h.body)]


def _members(node: ast.ClassDef) -> Iterable[str]:
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield item.name
            yield from _set_on_self(item)
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id
        elif isinstance(item, ast.Assign):
            for target in item.targets:
                if isinstance(target, ast.Name):
                    yield target.id
                    if target.id == "attribute_map" and isinstance(item.value, ast.Dict):
                        yield from (
                            key.value
                            for key in item.value.keys
                            if isinstance(key, ast.Constant) and isinstance(key.value, str)
                        )


def _set_on_self(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterable[str]:
    own = function.args.args[0].arg if function.args.args else ""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == own:
                yield node.attr
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("setattr", "register_buffer", "add_module"):
            for argument in node.args[:2]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


def _last_name(node: ast.expr) -> str:
    return dotted(node).rpartition(".")[2]


def member_rows(releases: dict[str, Classes], plan: Plan) -> list[dict[str, object]]:
    """Rows for attributes that came or went while their class stayed. Attributes with the same classes and releases share a row."""
    versions = list(releases)
    whole = [_inherited(classes) for classes in releases.values()]
    above = _ancestors(releases.values())
    # The attributes of a base from another package are unknown, so a change of such bases gives no row.
    outside = [
        {
            name: above[name] & {b for one in above[name] for b in classes.get(one, ([], []))[0]} - classes.keys()
            for name in classes
        }
        for classes in releases.values()
    ]
    classes: dict[tuple[str, str | None, str | None], list[str]] = defaultdict(list)
    for owner in sorted({name for known in whole for name in known}):
        if other_framework(owner):
            continue
        offered = [known.get(owner) for known in whole]
        stretches = _stretches([strange.get(owner) for strange in outside])
        for name in sorted({name for members in offered if members for name in members}):
            if name.startswith("_") and not fnmatchcase(owner, "*Model"):
                continue  # what others call though it is private: a model's helpers
            # The attributes that `__getattr__` provides are unknown.
            states = [
                None if members is None or (name not in members and "__getattr__" in members) else name in members
                for members in offered
            ]
            for low, high in stretches:
                own = [state if low <= index < high else None for index, state in enumerate(states)]
                for span in spans(own, versions):
                    if span.changed:
                        classes[name, span.since, span.until].append(owner)
    names: dict[tuple[tuple[str, ...], str | None, str | None], list[str]] = defaultdict(list)
    for (name, since, until), owners in classes.items():
        names[_folded(owners, above), since, until].append(name)
    return [
        {"package": plan.package, "names": sorted(same), "classes": list(owners), "since": since, "until": until}
        for (owners, since, until), same in sorted(names.items(), key=lambda item: [str(part) for part in item[0]])
    ]


def _stretches(states: list[set[str] | None]) -> list[tuple[int, int]]:
    """Runs of equal states."""
    edges = [0, *(i for i in range(1, len(states)) if states[i] != states[i - 1]), len(states)]
    return list(pairwise(edges))


def _ancestors(releases: Iterable[Classes]) -> dict[str, set[str]]:
    """By class: the class itself and all its bases in any release."""
    bases: dict[str, set[str]] = defaultdict(set)
    for classes in releases:
        for name, (direct, _) in classes.items():
            bases[name].update(direct)
    found: dict[str, set[str]] = {}
    for name in list(bases):
        known, new = {name}, {name}
        while new:
            new = {base for one in new for base in bases.get(one, ())} - known
            known |= new
        found[name] = known
    return found


def _folded(owners: list[str], above: dict[str, set[str]]) -> tuple[str, ...]:
    """The classes, those of a family by its pattern."""
    kept = owners
    patterns: list[str] = []
    for base, globs in FAMILIES.items():
        derived = [o for o in kept if base in above[o] and any(fnmatchcase(o, glob) for glob in globs)]
        if base in owners or len(derived) >= MANY:
            patterns += [glob for glob in globs if glob not in patterns]
            kept = [owner for owner in kept if owner == base or owner not in derived]
    return (*patterns, *kept)


def _inherited(classes: Classes) -> dict[str, set[str]]:
    """By class: its attributes and those of the bases that are known."""
    return {
        name: {member for one in above if one in classes for member in classes[one][1]}
        for name, above in _ancestors([classes]).items()
    }
