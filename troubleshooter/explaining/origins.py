"""What a name in the library's source comes from: the argument, option or variable that the user sets.

`Trace.origins` follows a name backwards: through assignments inside the function, ``self.x`` to where the class sets it, and
a parameter to the call one frame further out, whose line the traceback names. It ends at a call in the user's own code, at an
option of a configuration object, or where the source ends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from troubleshooter.explaining.calls import NOT_PASSED, PASSED_ON, Unseen, called, passed
from troubleshooter.explaining.classes import Attribute, attribute, is_construction
from troubleshooter.explaining.shown import calls, code, is_whole, marked
from troubleshooter.explaining.sources import Function, Source, Sources, installed
from troubleshooter.observe.model import Frame

MAX_STEPS = 8
"""Assignments, attributes and calls that are followed for one name."""
HOLDERS = frozenset(
    ("args", "config", "training_args", "peft_config", "generation_config", "model_config", "cfg", "script_args")
)
"""Names of objects whose attributes the user sets by name."""
Kind = Literal["argument", "option", "attribute", "environment", "data"]


@dataclass(frozen=True)
class Origin:
    """Something that the user sets, or that lies behind a condition.

    ``kind``: ``argument`` of a call, ``option`` of a configuration object, ``attribute`` of an object, variable of the
    ``environment``, or ``data`` of the user's own.
    ``owner``: the function or class that takes it, "" where that is not known. ``value``: as the user's code or the message
    shows it. ``passed``: whether the user's call passes it; None where the log does not show that.
    ``expression``: how the library's source names it in the place. ``exact``: whether the name there has this very value; it
    may also be computed from it.
    """

    name: str
    kind: Kind
    owner: str = ""
    value: str | None = None
    passed: bool | None = None
    default: str | None = None
    annotation: str | None = None
    expression: str = ""
    exact: bool = True


@dataclass(frozen=True)
class Context:
    """Where a name is read: a line of a function, and the frame of the traceback where there is one (``at`` its number)."""

    source: Source
    owner: ast.ClassDef | None
    function: Function | None
    line: int
    at: int | None


class Trace:
    """The frames of one traceback, the outermost first, with their source where it is here."""

    def __init__(self, frames: Sequence[Frame], sources: Sources) -> None:
        self.frames = frames
        self.sources = sources
        self.own = [n for n, frame in enumerate(frames) if is_own(frame)]

    def context(self, at: int) -> Context | None:
        source = self.sources.of(self.frames[at])
        if source is None:
            return None
        line = self.frames[at].line
        return Context(source, *source.around(line), line, at)

    def origins(self, expression: ast.expr, context: Context) -> list[Origin]:
        """The origins of all names in an expression, in its order, each once."""
        found: dict[tuple[str, str], Origin] = {}
        for part in references(expression, context):
            written = ast.unparse(part)
            for origin in self._follow(part, context, MAX_STEPS):
                found.setdefault((origin.name, origin.kind), replace(origin, expression=written))
        return list(found.values())

    def own_value(self, name: str) -> str | None:
        """The value that a call in the user's code gives an argument of this name, where exactly one does."""
        values = {
            ast.unparse(keyword.value)
            for at in self.own
            for call in self._own_calls(at)
            for keyword in call.keywords
            if keyword.arg == name
        }
        return values.pop() if len(values) == 1 else None

    def _own_calls(self, at: int) -> Iterator[ast.Call]:
        source = self.sources.of(self.frames[at])
        if source is not None:
            yield from (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
        else:
            yield from calls(code(self.frames[at]))

    def _follow(self, node: ast.expr, context: Context, left: int) -> list[Origin]:
        if left <= 0:
            return []
        if isinstance(node, ast.Name):
            return self._name(node.id, context, left)
        if isinstance(node, ast.Call):  # getattr(x, "name", default), x.get("name")
            name = _asked(node)
            if name is None:
                return []
            root = node.args[0] if isinstance(node.func, ast.Name) else node.func.value  # type: ignore[attr-defined]
            if isinstance(root, ast.Name) and root.id == _rest(context.function):
                return self._parameter(name, context, left - 1)
            if isinstance(node.func, ast.Name):
                return self._follow(ast.Attribute(root, name, ast.Load()), context, left)
            return self._environment(root, name) or self._follow(root, context, left - 1)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str):
                if isinstance(node.value, ast.Name) and node.value.id == _rest(context.function):
                    return self._parameter(key, context, left - 1)
                if found := self._environment(node.value, key):
                    return found
            return self._part(node.value, context, left)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, context, left)
        return []

    def _part(self, whole: ast.expr, context: Context, left: int) -> list[Origin]:
        """The origins of something of which only a part is read."""
        found = self._follow(whole, context, left - 1) if _is_reference(whole) else []
        return [replace(one, exact=False) for one in found]

    def _environment(self, root: ast.expr, name: str) -> list[Origin]:
        return [Origin(name, "environment")] if ast.unparse(root) in ("os.environ", "environ") else []

    def _name(self, name: str, context: Context, left: int) -> list[Origin]:
        function = context.function
        value = last_value(name, function, context.line) if function is not None else None
        out: list[Origin] = []
        if function is not None and name in parameters(function):
            out += self._parameter(name, context, left - 1)
        if value is not None and not out:
            before = replace(context, line=value.lineno)
            out = self._all(value, before, left - 1)
        return out

    def _all(self, value: ast.expr, context: Context, left: int) -> list[Origin]:
        """The origins of what was assigned or passed."""
        found: list[Origin] = []
        for part in references(value, context):
            found += self._follow(part, context, left)
        return found if _is_taken_over(value) else [replace(one, exact=False) for one in found]

    def _attribute(self, node: ast.Attribute, context: Context, left: int) -> list[Origin]:
        chain = ast.unparse(node).split(".")
        if not all(part.isidentifier() for part in chain):
            if isinstance(node.value, ast.Subscript) and ast.unparse(node.value.value).rpartition(".")[2] in HOLDERS:
                return [self._option(node.attr, "")]  # one of several configurations
            return self._part(node.value, context, left)
        holder = next((n for n, part in enumerate(chain[:-1]) if part in HOLDERS), None)
        if holder is not None:
            owner = _annotation(context.function, chain[holder]) or self._class_of_holder(chain[: holder + 1], context)
            return [self._option(chain[holder + 1], owner)]
        if chain[0] in ("self", "cls") and context.owner is not None:
            found = attribute(self.sources, context.source, context.owner, chain[1], context.function, context.line)
            return self._own_attribute(found, chain[1], context, left)
        annotation = _annotation(context.function, chain[0])
        if annotation.endswith(("Config", "Arguments", "Args")):
            return [self._option(chain[1], annotation)]
        return self._part(ast.Name(chain[0], ast.Load()), context, left)

    def _class_of_holder(self, chain: list[str], context: Context) -> str:
        return "" if chain[0] != "self" else _annotation(_constructor(context), chain[-1])

    def _option(self, name: str, owner: str) -> Origin:
        value = self.own_value(name)
        return Origin(name, "option", owner, value, True if value is not None else None)

    def _own_attribute(self, found: Attribute | None, name: str, context: Context, left: int) -> list[Origin]:
        if found is None:
            return [Origin(name, "attribute", context.owner.name if context.owner else "")]
        if found.field:
            return [self._constructed(name, found, context)]
        assert found.value is not None
        at = self._frame_of(found, context)
        inside = Context(found.source, found.owner, found.function, found.value.lineno, at)
        itself = {f"self.{name}", f"cls.{name}"}
        out: list[Origin] = []
        if not any(ast.unparse(part) in itself for part in references(found.value, inside)):
            out = self._all(found.value, inside, left - 1)
        return out or [Origin(name, "attribute", context.owner.name if context.owner else "")]

    def _frame_of(self, found: Attribute, context: Context) -> int | None:
        """The frame in which the attribute was set, if that function is still running."""
        if found.function is None:
            return None
        for at in range(context.at if context.at is not None else -1, -1, -1):
            frame = self.frames[at]
            inside = found.function.lineno <= frame.line <= (found.function.end_lineno or 0)
            if inside and frame.path.endswith(found.source.below or found.source.path):
                return at
        return None

    def _constructed(self, name: str, found: Attribute, context: Context) -> Origin:
        """A field of a dataclass: what the call that made the object gives it."""
        owner = context.owner.name if context.owner else ""
        origin = Origin(name, "argument", owner, None, None, found.default, found.annotation)
        for at in range((context.at or 0) - 1, -1, -1):
            for call in calls(code(self.frames[at])):
                if not is_construction(call):
                    continue
                value = passed(call, name, None)
                if isinstance(value, ast.expr):
                    shown = ast.unparse(value)
                    return replace(origin, value=shown, passed=True, owner=ast.unparse(call.func))
                if value is NOT_PASSED and not call.args and is_whole(code(self.frames[at])):
                    return replace(origin, value=found.default, passed=False, owner=ast.unparse(call.func))
                if at in self.own:
                    value_seen = self.own_value(name)
                    return replace(
                        origin, owner=ast.unparse(call.func), value=value_seen, passed=True if value_seen else None
                    )
        return origin

    def _parameter(self, name: str, context: Context, left: int) -> list[Origin]:
        """A parameter: what the call one frame further out passes for it."""
        function, at = context.function, context.at
        if function is None:
            return []
        owner = context.owner.name if context.owner is not None and function.name.startswith("__") else function.name
        default, annotation = signature(function, name)
        origin = Origin(name, "argument", owner, None, None, default, annotation)
        position = _position(function, name, method=context.owner is not None)
        while at is not None and at > 0:
            at -= 1
            frame = self.frames[at]
            if frame.file.startswith("<"):
                continue
            outer = self.context(at)
            text = code(frame)
            call = called(outer.source.tree if outer else None, frame, text, marked(frame), function, owner)
            if call is None:
                break
            value = passed(call, name, position)
            if isinstance(value, Unseen) and value is PASSED_ON:
                if at in self.own:
                    value_seen = self.own_value(name)
                    return [replace(origin, value=value_seen, passed=True if value_seen else None)]
                position = position if any(isinstance(part, ast.Starred) for part in call.args) else None
                continue
            if isinstance(value, Unseen):
                whole = outer is not None or is_whole(text)
                return [replace(origin, value=default if whole else None, passed=False if whole else None)]
            if at in self.own:
                return [replace(origin, value=ast.unparse(value), passed=True)]
            if outer is None:
                break
            inner = self._all(value, outer, left - 1)
            return inner or [replace(origin, value=ast.unparse(value), passed=True)]
        return [origin]


def is_own(frame: Frame) -> bool:
    """Whether a frame is the user's own code."""
    path = frame.path
    return not installed(path) and not path.startswith("<frozen") and "/lib/python3" not in path and path != "<string>"


def references(expression: ast.expr, context: Context) -> Iterator[ast.expr]:
    """The names, attributes and look-ups that an expression reads, the longest of each; without functions and classes."""
    if isinstance(expression, ast.Call):
        if _asked(expression) is not None:
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
        isinstance(expression, ast.Subscript) and _is_reference(expression)
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


def last_value(name: str, function: Function, line: int) -> ast.expr | None:
    """What was last assigned to a name above a line; for a loop's target what the loop runs over."""
    best: ast.expr | None = None
    at = 0
    for node in ast.walk(function):
        value: ast.expr | None = None
        names: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            value, names = node.value, node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            value, names = node.value, [node.target]
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            value, names = node.iter, [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            value, names = node.context_expr, [node.optional_vars]
        if value is None or not at < value.lineno <= line:
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and (node.end_lineno or 0) >= line:
            continue
        targets = (part for target in names for part in ast.walk(target) if isinstance(part, ast.Name))
        if any(target.id == name for target in targets):
            best, at = value, value.lineno
    return best


def parameters(function: Function) -> list[str]:
    """The names of all parameters."""
    given = function.args
    rest = [part.arg for part in (given.vararg, given.kwarg) if part is not None]
    return [part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs)] + rest


def signature(function: Function, name: str) -> tuple[str | None, str | None]:
    """The default and the annotation of a parameter, as source; None where there is none."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults = dict(zip([part.arg for part in plain[len(plain) - len(given.defaults) :]], given.defaults, strict=True))
    defaults |= {p.arg: d for p, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None}
    part = next((part for part in (*plain, *given.kwonlyargs) if part.arg == name), None)
    annotation = ast.unparse(part.annotation) if part is not None and part.annotation is not None else None
    return (ast.unparse(defaults[name]) if name in defaults else None), annotation


def _annotation(function: Function | None, name: str) -> str:
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


def _constructor(context: Context) -> Function | None:
    body = context.owner.body if context.owner is not None else []
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)


def _position(function: Function, name: str, *, method: bool) -> int | None:
    """The number of a positional parameter, counted without ``self``."""
    names = [part.arg for part in (*function.args.posonlyargs, *function.args.args)]
    if method and names and names[0] in ("self", "cls"):
        names = names[1:]
    return names.index(name) if name in names else None


def _rest(function: Function | None) -> str:
    """The name of the parameter that takes all other keywords."""
    return function.args.kwarg.arg if function is not None and function.args.kwarg is not None else ""


def _asked(node: ast.Call) -> str | None:
    """The name that ``getattr(x, "name")``, ``x.get("name")`` or ``x.pop("name")`` asks for."""
    func, args = node.func, node.args
    if isinstance(func, ast.Name) and func.id in ("getattr", "hasattr") and len(args) > 1:
        found = args[1]
    elif isinstance(func, ast.Attribute) and func.attr in ("get", "pop") and args:
        found = args[0]
    else:
        return None
    return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else None


def _is_reference(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or (
        isinstance(node, ast.Call) and _asked(node) is not None
    )


def _is_taken_over(node: ast.expr) -> bool:
    """Whether an expression is a name, or one of several: ``a``, ``a or b``, ``a if … else b``."""
    if isinstance(node, ast.BoolOp):
        return all(_is_taken_over(part) or isinstance(part, ast.Constant) for part in node.values)
    if isinstance(node, ast.IfExp):
        return all(_is_taken_over(part) or isinstance(part, ast.Constant) for part in (node.body, node.orelse))
    return _is_reference(node)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_global(name: str, context: Context) -> bool:
    """Whether a name is a module, a class, a function or a constant rather than something of this call."""
    function = context.function
    if name in ("self", "cls"):
        return False
    is_local = function is not None and (name in parameters(function) or last_value(name, function, 10**9) is not None)
    return not is_local
