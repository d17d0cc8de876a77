"""Names in the source of one function: what an expression reads, what was assigned last, what the parameters are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from troubleshooter.explaining.source.kept import kept_with_node
from troubleshooter.explaining.source.sources import Function, SourceFile, holding

MAX_ENCLOSING = 3
"""Functions around a function whose names are looked at."""


class NameContext(NamedTuple):
    """Where a name is read: a line of a function, and the frame of the traceback where there is one (``at`` its number)."""

    source: SourceFile
    owner: ast.ClassDef | None
    function: Function | None
    line: int
    at: int | None


def references(expression: ast.expr, context: NameContext) -> Iterator[ast.expr]:
    """The names, attributes and look-ups that an expression reads, the longest of each; without functions and classes."""
    if isinstance(expression, ast.Call):
        if asked_for(expression) is not None:
            yield expression
            return
        if isinstance(expression.func, ast.Attribute):
            yield from references(expression.func.value, context)
        is_instance = isinstance(expression.func, ast.Name) and expression.func.id in (
            "isinstance",
            "issubclass",
            "hasattr",
        )
        for part in expression.args[:1] if is_instance else expression.args:
            yield from references(part, context)
        for keyword in expression.keywords:
            yield from references(keyword.value, context)
    elif isinstance(expression, (ast.Name, ast.Attribute)) or (
        isinstance(expression, ast.Subscript) and is_reference(expression)
    ):
        root = _root(expression)
        if root is None:
            for child in ast.iter_child_nodes(expression):
                if isinstance(child, ast.expr):
                    yield from references(child, context)
        elif not _is_global(root, context) or ".environ" in ast.unparse(expression):
            yield expression
    else:
        for child in ast.iter_child_nodes(expression):
            if isinstance(child, ast.expr):
                yield from references(child, context)
            elif isinstance(child, ast.comprehension):
                yield from references(child.iter, context)


class _Binding(NamedTuple):
    """A statement that gives a name a value. ``end``: its last line, 0 where the value counts within the statement.

    ``inner``: it gives the value to a part of the name's object (``name[key] = …``). ``begin``: the line from which it counts, which is
    above the value in a comprehension.
    """

    value: ast.expr
    end: int
    is_loop: bool
    inner: bool
    begin: int


def last_value(name: str, function: Function, line: int, *, whole: bool = False) -> ast.expr | None:
    """What was last assigned to a name above a line; for a loop's target what the loop runs over.

    ``whole``: what is assigned to a part of its object does not count.
    """
    best: ast.expr | None = None
    at = 0
    bindings = _bindings(function).get(name, ())
    passed_by = other_branches(function, line) if bindings else []
    for value, end, _, inner, start in bindings:
        if not at < value.lineno or start > line or end >= line or (whole and inner):
            continue
        if not any(begin <= value.lineno <= last for begin, last in passed_by):
            best, at = value, value.lineno
    return best


def given_values(name: str, function: Function | ast.Module, line: int) -> list[ast.expr]:
    """All that is assigned to a name above a line, the last first; for a loop's target what the loop runs over."""
    found = [
        one.value for one in _bindings(function).get(name, ()) if not one.inner and one.begin <= line and one.end < line
    ]
    return sorted(found, key=lambda value: -value.lineno)


@kept_with_node
def _bindings(function: Function | ast.Module) -> dict[str, list[_Binding]]:
    """All names that a function gives values, read once: functions of a thousand lines are asked hundreds of times."""
    found: dict[str, list[_Binding]] = {}
    begins: dict[int, int] = {}  # by comprehension: the first line of the expression that it is a part of
    for node in ast.walk(function):
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            begins |= {id(loop): node.lineno for loop in node.generators}
        value: ast.expr | None = None
        names: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            value, names = node.value, node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            value, names = node.value, [node.target]
        elif isinstance(node, _LOOPS):
            value, names = node.iter, [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            value, names = node.context_expr, [node.optional_vars]
        if value is None:
            continue
        end = (node.end_lineno or 0) if isinstance(node, (ast.Assign, ast.AnnAssign)) else 0
        begin = begins.get(id(node), value.lineno)
        parts = {
            part.id: not isinstance(part.ctx, ast.Store)
            for target in names
            for part in ast.walk(target)
            if isinstance(part, ast.Name)
        }
        for name, inner in parts.items():
            found.setdefault(name, []).append(_Binding(value, end, isinstance(node, _LOOPS), inner, begin))
    return found


_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def is_each(value: ast.expr, scope: Function | ast.Module) -> bool:
    """Whether a loop runs over a value, so that a name has one of its items."""
    return any(one.is_loop and one.value is value for several in _bindings(scope).values() for one in several)


def other_branches(function: Function, line: int) -> list[tuple[int, int]]:
    """The lines of the branches that cannot have run where a line in their ``else`` did."""
    return [(begin, last) for begin, last, other, end in _branches(function) if other <= line <= end]


@kept_with_node
def _branches(function: Function) -> list[tuple[int, int, int, int]]:
    """The first and last lines of each branch that has an ``else``, and those of the ``else``."""
    return [
        (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno, node.orelse[0].lineno, node.end_lineno or 0)
        for node in ast.walk(function)
        if isinstance(node, ast.If) and node.orelse
    ]  # fmt: skip


def parameters(function: Function) -> list[str]:
    """The names of all parameters."""
    given = function.args
    rest = [part.arg for part in (given.vararg, given.kwarg) if part is not None]
    return [part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs)] + rest


def needs_arguments(function: Function) -> bool:
    """Whether a function cannot be called without arguments; ``self`` and ``cls`` are none."""
    given = function.args
    taken = len(given.posonlyargs) + len(given.args) - (parameters(function)[:1] in (["self"], ["cls"]))
    return taken > len(given.defaults) or None in given.kw_defaults


def signature(function: Function, name: str) -> tuple[str | None, str | None]:
    """The default and the annotation of a parameter, as source; None where there is none."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults = dict(zip([part.arg for part in plain[len(plain) - len(given.defaults) :]], given.defaults, strict=True))
    defaults |= {p.arg: d for p, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None}
    part = next((part for part in (*plain, *given.kwonlyargs) if part.arg == name), None)
    annotation = ast.unparse(part.annotation) if part is not None and part.annotation is not None else None
    return (ast.unparse(defaults[name]) if name in defaults else None), annotation


def annotation_of(function: Function | None, name: str) -> str:
    """The class that a parameter is annotated with, without ``| None`` and quotes; "" where there is none."""
    text = (signature(function, name)[1] or "") if function is not None else ""
    names = [
        part for part in text.replace("Optional[", "").strip("'\"]").split("|") if part.strip() not in ("None", "")
    ]
    return (
        names[0].strip().rpartition(".")[2].strip("'\"")
        if names and names[0].strip().replace(".", "").isidentifier()
        else ""
    )


def constructor(context: NameContext) -> Function | None:
    body = context.owner.body if context.owner is not None else []
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)


def position_of(function: Function, name: str, *, method: bool) -> int | None:
    """The number of a positional parameter, counted without ``self``."""
    names = [part.arg for part in (*function.args.posonlyargs, *function.args.args)]
    if method and names and names[0] in ("self", "cls"):
        names = names[1:]
    return names.index(name) if name in names else None


def rest_names(function: Function) -> list[str]:
    """The names of ``*args`` and ``**kwargs``."""
    return [part.arg for part in (function.args.vararg, function.args.kwarg) if part is not None]


def rest_of(function: Function | None) -> str:
    """The name of the parameter that takes all other keywords."""
    return function.args.kwarg.arg if function is not None and function.args.kwarg is not None else ""


def asked_for(node: ast.Call) -> str | None:
    """The name that ``getattr(x, "name")``, ``x.get("name")`` or ``x.pop("name")`` asks for."""
    func, args = node.func, node.args
    if isinstance(func, ast.Name) and func.id in ("getattr", "hasattr") and len(args) > 1:
        found = args[1]
    elif isinstance(func, ast.Attribute) and func.attr in ("get", "pop") and args:
        found = args[0]
    else:
        return None
    return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else None


def is_reference(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or (
        isinstance(node, ast.Call) and asked_for(node) is not None
    )


def is_taken_over(node: ast.expr) -> bool:
    """Whether an expression is a name, or one of several: ``a``, ``a or b``, ``a if … else b``."""
    if isinstance(node, ast.BoolOp):
        return all(is_taken_over(part) or isinstance(part, ast.Constant) for part in node.values)
    if isinstance(node, ast.IfExp):
        return is_taken_over(node.body) or is_taken_over(node.orelse)
    return is_reference(node)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_global(name: str, context: NameContext) -> bool:
    """Whether a name is a module, a class, a function or a constant rather than something of this call."""
    function: Function | None = context.function
    if name in ("self", "cls"):
        return False
    for _ in range(MAX_ENCLOSING):
        if function is None or binds(function, name):
            break
        function = enclosing(context.source, function)
    return function is None or not binds(function, name)


def binds(function: Function, name: str) -> bool:
    """Whether a function gives a name a value: by a parameter, or in its body."""
    return name in parameters(function) or any(not one.inner for one in _bindings(function).get(name, ()))


def enclosing(source: SourceFile, function: Function) -> Function | None:
    """The function that a function is written in."""
    several = [
        node
        for node in holding(source.tree, function.lineno)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    at = next((n for n, node in enumerate(several) if node is function), 0)
    return several[at - 1] if at else None
