"""What the names in the user's own file stand for, where the file gives each one value: a constant, an attribute of its
settings, an entry of its dictionary, an option of its command line, simple arithmetic of these."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import cached_property

from troubleshooter.explaining.remedy import UNKNOWN, literal
from troubleshooter.explaining.source.declared_options import DeclaredOption, declared
from troubleshooter.explaining.source.mappings import named_entries
from troubleshooter.explaining.source.options import is_holder
from troubleshooter.explaining.source.run_options import RunOptions

MAX_VALUE = 300
"""Characters of a value that stands for a name."""
MAX_STEPS = 6
"""Names that are followed for one value."""
MAX_NUMBER = 10**12
"""A number that is larger than this is not calculated with."""

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_HOLDERS = frozenset(("opt", "opts", "options", "conf", "params", "hparams", "flags", "settings", "arguments", "hp"))
_CHANGES = frozenset(("append", "extend", "insert", "update", "pop", "remove", "clear", "setdefault", "add", "popitem"))


class FileNames:
    """The names of one file. ``options``: what the run's own command gives."""

    def __init__(self, tree: ast.Module, options: RunOptions) -> None:
        self._tree = tree
        self._options = options
        self._places: dict[int, tuple[ast.expr, str]] = {}

    def place(self, value: ast.expr) -> str:
        """The place of the command line or of a configuration that gave a value; "" where the file did."""
        return self._places.get(id(value), (value, ""))[1]

    def value(self, node: ast.expr) -> ast.expr | None:
        """The literal that an expression stands for; None where the file does not show one value."""
        found = self._followed(node, MAX_STEPS)
        text = ast.unparse(found) if found is not None else ""
        return found if found is not None and len(text) <= MAX_VALUE and literal(text) is not UNKNOWN else None

    @cached_property
    def bound(self) -> dict[str, ast.expr]:
        """The names that the file gives one value and never another one, with what it gives them."""
        return _bound_once(self._tree)

    def partial(self, call: ast.Call) -> ast.Call:
        """A call of what ``functools.partial`` made, as the call that this makes; any other call as it is."""
        made = self.bound.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if not isinstance(made, ast.Call) or not made.args or ast.unparse(made.func).rpartition(".")[2] != "partial":
            return call
        later = {keyword.arg for keyword in call.keywords}
        keywords = [one for one in made.keywords if one.arg is None or one.arg not in later]
        whole = ast.Call(made.args[0], [*made.args[1:], *call.args], [*keywords, *call.keywords])
        return ast.copy_location(whole, call)

    def entries(self, mapping: ast.expr) -> list[tuple[str, ast.expr]]:
        """The entries of a dictionary that a call passes as ``**mapping``, also those that the file adds later on.

        An entry that is set twice has no value; nothing is told of a dictionary that is changed in other ways.
        """
        found = self.all_entries(mapping)
        names = [name for name, _ in found]
        return found if not isinstance(mapping, ast.Name) else [one for one in found if names.count(one[0]) == 1]

    def all_entries(self, mapping: ast.expr) -> list[tuple[str, ast.expr]]:
        """The same with all values of an entry that is set several times, in the order of the file."""
        if not isinstance(mapping, ast.Name):
            return [(name, value) for name, value, _ in named_entries(mapping)]
        made = self.bound.get(mapping.id)
        if made is None:
            return []
        found = [(name, value) for name, value, _ in named_entries(made)]
        for node in ast.walk(self._tree) if mapping.id in self._changed else ():
            added = _added(node, mapping.id)
            if added is None:
                return []
            found += added
        return found

    @cached_property
    def _changed(self) -> set[str]:
        return _changed(self._tree)

    @cached_property
    def _set_attributes(self) -> set[tuple[str, str]]:
        """The attributes that the file sets on an object of its own: holder and name."""
        return {
            (node.value.id, node.attr)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
        }

    @cached_property
    def _classes(self) -> dict[str, ast.ClassDef]:
        return {node.name: node for node in self._tree.body if isinstance(node, ast.ClassDef)}

    @cached_property
    def _declared(self) -> dict[str, DeclaredOption]:
        return declared(self._tree)

    def _followed(self, node: ast.expr | None, left: int) -> ast.expr | None:
        if node is None or left <= 0:
            return None
        if isinstance(node, ast.Name):
            inner = self.bound.get(node.id) if node.id not in self._changed else None
            return self._followed(inner, left - 1)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._attribute(node.value.id, node.attr, left - 1)
        if isinstance(node, ast.Subscript):
            return self._item(node.value, node.slice, left - 1)
        if isinstance(node, ast.BinOp):
            return self._calculated(node, left - 1)
        return node

    def _attribute(self, holder: str, name: str, left: int) -> ast.expr | None:
        if (holder, name) in self._set_attributes:
            return None
        if holder in self._classes:
            return self._followed(_of_class(self._classes[holder], name), left)
        made = self.bound.get(holder)
        if not isinstance(made, ast.Call):
            return self._option(holder, name, left) if made is None else None
        given = [keyword.value for keyword in made.keywords if keyword.arg == name]
        if given:
            return self._followed(given[0], left)
        function = ast.unparse(made.func)
        if function not in self._classes:
            return self._option(holder, name, left)
        class_ = self._classes.get(function)
        is_plain = class_ is not None and not made.args and all(keyword.arg is not None for keyword in made.keywords)
        return self._followed(_of_class(class_, name), left) if class_ is not None and is_plain else None

    def _option(self, holder: str, name: str, left: int) -> ast.expr | None:
        """The value of an option of the user's own program: what its command line gives, or its configuration, else the default."""
        declared = self._declared.get(name)
        told = self._options.one(name) if declared is not None or _holds_options(holder) else None
        if told is not None:
            value: ast.expr = declared.value(told.text) if declared is not None else told.expression
            self._places[id(value)] = value, told.place
            return value
        if declared is not None:
            return self._followed(declared.default, left)
        if not (_holds_options(holder) and self._parses_classes):
            return None
        fields = [one for class_ in self._classes.values() if (one := _of_class(class_, name)) is not None]
        return self._followed(fields[0], left) if len(fields) == 1 else None

    @cached_property
    def _parses_classes(self) -> bool:
        """Whether the file makes the options of its command line from the fields of classes."""
        return any(
            isinstance(node, ast.Attribute) and node.attr.startswith("parse_args_into") for node in ast.walk(self._tree)
        )

    def _item(self, whole: ast.expr, key: ast.expr, left: int) -> ast.expr | None:
        holder, name = whole.id if isinstance(whole, ast.Name) else "", literal(ast.unparse(key))
        if holder in self._changed or not isinstance(name, str):
            return None
        made = self._followed(self.bound.get(holder) if holder else whole, left)
        entries = list(named_entries(made)) if made is not None else []
        found = [value for one, value, _ in entries if one == name]
        if found:
            return self._followed(found[-1], left)
        return self._option(holder, name, left) if not entries and self._options.one(name) is not None else None

    def _calculated(self, node: ast.BinOp, left: int) -> ast.expr | None:
        calculate = _OPERATORS.get(type(node.op))
        first, second = (self._number(one, left) for one in (node.left, node.right))
        if calculate is None or first is None or second is None:
            return None
        try:
            return ast.copy_location(ast.Constant(calculate(first, second)), node)
        except ArithmeticError:
            return None

    def _number(self, node: ast.expr, left: int) -> int | float | None:
        found = self._followed(node, left)
        number = literal(ast.unparse(found)) if found is not None else UNKNOWN
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            return None
        return number if abs(number) <= MAX_NUMBER else None


def _added(node: ast.AST, name: str) -> list[tuple[str, ast.expr]] | None:
    """What a statement or a call adds to a dictionary of a name; None where it changes it in a way that is not seen."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name:
                key = literal(ast.unparse(target.slice))
                return [(key, node.value)] if isinstance(key, str) else None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == name):
            return []
        if node.func.attr != "update" or any(keyword.arg is None for keyword in node.keywords):
            return None
        parts = [list(named_entries(one)) for one in node.args]
        if any(not part for part in parts):
            return None
        given = [(key, value) for part in parts for key, value, _ in part]
        return given + [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg is not None]
    elif isinstance(node, (ast.AugAssign, ast.Delete)):
        targets = node.targets if isinstance(node, ast.Delete) else [node.target]
        if any(isinstance(one, ast.Subscript) and ast.unparse(one.value) == name for one in targets):
            return None
    return []


def _holds_options(name: str) -> bool:
    """Whether a name is one of an object that holds the options of a run."""
    return is_holder(name) or name.lower() in _HOLDERS or name.lower().endswith("_args")


def _of_class(class_: ast.ClassDef, name: str) -> ast.expr | None:
    """What a class gives an attribute in its own body: the default of a field, or a plain value."""
    for node in class_.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if not any(isinstance(one, ast.Name) and one.id == name for one in targets):
            continue
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Call):
            return next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
        return value
    return None


def _bound_once(tree: ast.Module) -> dict[str, ast.expr]:
    values: dict[str, ast.expr] = {}
    times: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            times[node.id] = times.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            times[node.arg] = times.get(node.arg, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            values |= dict(_pairs(node.targets[0], node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            values[node.target.id] = node.value
    return {name: value for name, value in values.items() if times.get(name) == 1}


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """Each name of an assignment with what it gets: ``A, B = 1, 2`` gives two."""
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    sides = [one.elts for one in (target, value) if isinstance(one, (ast.Tuple, ast.List))]
    if len(sides) < 2 or len(sides[0]) != len(sides[1]):
        return []
    return [(one.id, part) for one, part in zip(*sides, strict=True) if isinstance(one, ast.Name)]


def _changed(tree: ast.Module) -> set[str]:
    """The names whose objects a file changes in place: ``x[0] = …``, ``x.append(…)``."""
    found = set()
    for node in ast.walk(tree):
        is_item = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        is_method = isinstance(node, ast.Attribute) and node.attr in _CHANGES
        if (is_item or is_method) and isinstance(node.value, ast.Name):  # type: ignore[attr-defined]
            found.add(node.value.id)  # type: ignore[attr-defined]
    return found
