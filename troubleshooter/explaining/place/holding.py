"""Whether a condition would still hold after a suggestion: with the values that are known, yes, no, or not to be told.

A suggestion that leaves the condition true repairs nothing and is never shown. One that cannot be checked is never the first.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from troubleshooter.explaining.place.conditions import Atom, Formula
from troubleshooter.explaining.remedy import UNKNOWN, Instance, Remedy

Values = Callable[[ast.expr], Any]
"""The value of a name, an attribute or a look-up; `UNKNOWN` where it is not known."""
Subjects = Callable[[ast.expr], str]
"""The argument whose very value an expression has; "" where there is none."""

_RELATIONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne, ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_CLASSES: dict[str, type] = {one.__name__: one for one in (int, float, str, bool, list, tuple, dict, set)}
_SEVERAL = (list, tuple, set, frozenset, dict)
LENGTH = "length"
"""In place of a class: the length of something that a user gives."""
MAX_ITEMS = 1000
"""Items of a list over which a condition is asked."""
ABSTRACT = frozenset(
    ("Number", "Real", "Integral", "Sequence", "Mapping", "Iterable", "Collection", "Hashable", "Sized")
)
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {"abs": abs, "bool": bool, "int": int, "float": float}
_METHODS = frozenset(("startswith", "endswith", "lower", "upper", "strip", "isidentifier", "isdigit"))


def holds(what: Formula | Atom, values: Values) -> bool | None:
    """Whether a condition holds; None where the known values do not tell."""
    if isinstance(what, Atom):
        found = evaluate(what.expression, values)
        if isinstance(found, Instance):  # something that a user makes is not empty
            return what.holds
        return None if found is UNKNOWN else bool(found) == what.holds
    told = [holds(part, values) for part in what.parts]
    if what.kind == "and":
        return False if False in told else None if None in told else True
    return True if True in told else None if None in told else False


def evaluate(node: ast.expr, values: Values) -> Any:
    """The value of an expression: constants, comparisons, numbers, classes and lengths; `UNKNOWN` for everything else."""
    known = values(node)
    if known is not UNKNOWN:
        return known
    try:
        return _of(node, values)
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        return UNKNOWN


def checked(remedies: Iterable[Remedy], condition: Formula, values: Values, subjects: Subjects) -> list[Remedy]:
    """The suggestions that keep a condition from holding, those that certainly do first; none if that is certain of none."""
    sure: list[Remedy] = []
    open_: list[Remedy] = []
    for remedy in remedies:
        after = _after(remedy, condition, values, subjects)
        if after is True and (whole := _as_float(remedy)) is not None:
            remedy, after = whole, _after(whole, condition, values, subjects)
        if after is False:
            sure.append(remedy)
        elif after is None:
            open_.append(remedy)
    return [*sure, *open_] if sure else []


def refuted(remedy: Remedy, condition: Formula, values: Values, subjects: Subjects) -> bool:
    """Whether the condition would certainly hold after a suggestion as it does now."""
    return remedy.value is not UNKNOWN and _after(remedy, condition, values, subjects) is True


def _after(remedy: Remedy, condition: Formula, values: Values, subjects: Subjects) -> bool | None:
    """Whether the condition would hold after a suggestion."""

    asked = []

    def changed(node: ast.expr) -> Any:
        if not remedy.subject or subjects(node) != remedy.subject:
            return values(node)
        asked.append(node)
        return remedy.value

    if remedy.value is not UNKNOWN:
        after = holds(condition, changed)
        if after is not None or asked or remedy.key != "do-pass":
            return after
    return holds(_without(condition, remedy.part), values) if remedy.part is not None else None


def _without(what: Formula, part: ast.expr) -> Formula:
    """The condition with one part made false."""
    made = (_false(one) if isinstance(one, Atom) and one.expression is part else one for one in what.parts)
    return what._replace(parts=tuple(_without(one, part) if isinstance(one, Formula) else one for one in made))


def _false(atom: Atom) -> Atom:
    return Atom(ast.Constant(not atom.holds), atom.holds)


def _as_float(remedy: Remedy) -> Remedy | None:
    """The same number as a float, where an argument takes no other."""
    value = remedy.value
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    try:
        text = repr(float(value))
    except OverflowError:  # a number that no float holds
        return None
    return remedy._replace(
        key="do-set",
        trial=UNKNOWN,
        values=(("x", remedy.subject), ("y", text)),
        code=f"{remedy.subject}={text}",
    )


def _of(node: ast.expr, values: Values) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        parts = [evaluate(part, values) for part in node.elts]
        return UNKNOWN if any(part is UNKNOWN or isinstance(part, Instance) for part in parts) else parts
    if isinstance(node, ast.UnaryOp):
        inner = evaluate(node.operand, values)
        if inner is UNKNOWN or isinstance(inner, Instance):
            return UNKNOWN
        return not inner if isinstance(node.op, ast.Not) else -inner if isinstance(node.op, ast.USub) else UNKNOWN
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(evaluate(node.left, values), type(node.ops[0]), evaluate(node.comparators[0], values))
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = evaluate(node.left, values), evaluate(node.right, values)
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        return _ARITHMETIC[type(node.op)](left, right) if numbers else UNKNOWN
    return _called(node, values) if isinstance(node, ast.Call) else UNKNOWN


def _compared(left: Any, relation: type[ast.cmpop], right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, Instance) or isinstance(right, Instance):
        if Instance(LENGTH) in (left, right):
            return _of_length(left, relation, right)
        is_none = left is None or right is None
        if is_none and relation in (ast.Is, ast.Eq):
            return False
        return True if is_none and relation in (ast.IsNot, ast.NotEq) else UNKNOWN
    return _RELATIONS[relation](left, right)


def _of_length(left: Any, relation: type[ast.cmpop], right: Any) -> Any:
    """What a length that is not known tells of itself: that it is not 0."""
    if left != Instance(LENGTH) or isinstance(right, Instance) or right != 0:
        return UNKNOWN
    return relation in (ast.NotEq, ast.Gt) if relation in (ast.Eq, ast.LtE, ast.NotEq, ast.Gt) else UNKNOWN


def _called(node: ast.Call, values: Values) -> Any:
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        text = evaluate(node.func.value, values)
        given = [evaluate(part, values) for part in node.args]
        if isinstance(text, str) and all(isinstance(part, (str, tuple)) for part in given):
            return getattr(text, node.func.attr)(*given)
        return UNKNOWN
    if isinstance(node.func, ast.Attribute) and node.func.attr == "issubset" and len(node.args) == 1:
        part, whole = evaluate(node.func.value, values), evaluate(node.args[0], values)
        several = isinstance(part, _SEVERAL) and isinstance(whole, _SEVERAL)
        return all(one in whole for one in part) if several else UNKNOWN
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("any", "all") and node.args and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp)):
        return _over(node.args[0], values, every=name == "all")
    found = evaluate(node.args[0], values) if node.args else UNKNOWN
    if name == "isinstance" and len(node.args) == 2:
        return _is_instance(found, node.args[1])
    if name == "len" and isinstance(found, Instance):
        return Instance(LENGTH)
    if found is UNKNOWN or isinstance(found, Instance):
        return UNKNOWN
    if name == "len" and isinstance(found, (str, list, tuple, dict, set)):
        return len(found)
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](found)
    return UNKNOWN


def _over(each: ast.GeneratorExp | ast.ListComp, values: Values, *, every: bool) -> Any:
    """Whether something is true of any, or of every item of a known list."""
    loop = each.generators[0]
    items = evaluate(loop.iter, values) if len(each.generators) == 1 and not loop.ifs else UNKNOWN
    if not isinstance(items, _SEVERAL) or not isinstance(loop.target, ast.Name) or len(items) > MAX_ITEMS:
        return UNKNOWN
    name = loop.target.id
    told = []
    for item in items:

        def inside(node: ast.expr, item: Any = item) -> Any:
            return item if isinstance(node, ast.Name) and node.id == name else values(node)

        told.append(evaluate(each.elt, inside))
    if any(one is UNKNOWN or isinstance(one, Instance) for one in told):
        return UNKNOWN
    return all(told) if every else any(told)


def _is_instance(found: Any, classes: ast.expr) -> Any:
    names = [
        ast.unparse(one).rpartition(".")[2] for one in (classes.elts if isinstance(classes, ast.Tuple) else [classes])
    ]
    if found is UNKNOWN or found == Instance():
        return UNKNOWN
    if isinstance(found, Instance):
        return True if found.of in names else UNKNOWN
    if found is None:
        return False
    if any(isinstance(found, _CLASSES[name]) for name in names if name in _CLASSES):
        return True
    return UNKNOWN if set(names) & ABSTRACT else False
