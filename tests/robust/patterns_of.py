"""Find all regular expressions of our modules: those in variables of a module, and those in ``re`` calls."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kb.lazy import Lazy

ANCHORED = frozenset(("match", "fullmatch"))
"""Methods that begin at one place of a text."""


class Found(NamedTuple):
    """A pattern, where it stands, and whether it is looked for at every place of a text (or how it is used is not plain)."""

    place: str
    pattern: str | bytes
    flags: int
    searched: bool


def patterns(packages: tuple[str, ...], without: tuple[str, ...]) -> Iterator[Found]:
    """The patterns of all modules of these packages but those whose names begin so."""
    modules = []
    for package in packages:
        root = importlib.import_module(package)
        modules.append(root)
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not info.name.startswith(without):
                modules.append(importlib.import_module(info.name))
    trees = {module.__name__: ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8")) for module in modules}
    everywhere = _uses(trees.values())
    own = {name: _uses([tree]) for name, tree in trees.items()}
    for module in modules:
        yield from _variables(module, own[module.__name__], everywhere)
        yield from _calls(module.__name__, trees[module.__name__])


def _uses(trees: Any) -> dict[str, set[str]]:
    """By a variable's name: the methods that are called on it anywhere; "" for any other use."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        held: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
                name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                found.setdefault(name, set()).add(node.attr)
                held.add(id(node.value))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in held:
                found.setdefault(node.id, set()).add("")
    return found


def _variables(module: Any, own: dict[str, set[str]], everywhere: dict[str, set[str]]) -> Iterator[Found]:
    for name, value in vars(module).items():
        uses = own if name.startswith("_") else everywhere
        for pattern in _within(value):
            methods = uses.get(name, set())
            searched = pattern is not value or not methods or not methods <= ANCHORED
            yield Found(f"{module.__name__}.{name}", pattern.pattern, pattern.flags, searched)


def _within(value: Any) -> Iterator[Any]:
    if isinstance(value, (Lazy, re.Pattern)):
        yield value
    elif isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from _within(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _within(item)


def _calls(module: str, tree: ast.Module) -> Iterator[Found]:
    """``re.sub("…", …)`` and the like."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in ("re", "lazy")
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and node.func.attr not in ("compile", "escape")
        ):
            yield Found(f"{module}:{node.lineno}", node.args[0].value, 0, node.func.attr not in ANCHORED)
