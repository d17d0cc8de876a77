"""Which function of the user's own made a value that a library's line uses: a metric, a loss, a reward, a row of the data.

The value is followed backwards through names, parameters and comprehensions to a call that runs a function of the user's
own: by its name, as a method that the user's class overrides, or as an argument that holds it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from troubleshooter.explaining.source.calls import called, passed
from troubleshooter.explaining.source.names import NameContext, given_values, parameters, position_of
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction, functions_of
from troubleshooter.explaining.source.shown import code, marked
from troubleshooter.explaining.source.sources import SourceFile

MAX_STEPS = 12
"""Names, calls and comprehensions that are followed for one value."""
_DATA = ("dataset", "data", "ds", "rows", "samples")
"""How names of what holds the rows end."""


class Makers:
    """The functions of the user's own files, and the way from a value to one of them."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.functions = [one for source in trace.own_sources for one in functions_of(source)]

    def of(self, value: ast.expr, context: NameContext) -> OwnFunction | None:
        """The function that gave a value; None where the source does not show one."""
        return next(self._makers(value, context, MAX_STEPS), None)

    def length(self) -> OwnFunction | None:
        """The one ``__len__`` of the user's own."""
        return next(iter(self._named("__len__", methods=True)), None)

    def _makers(self, node: ast.expr, context: NameContext, left: int) -> Iterator[OwnFunction]:
        if left <= 0:
            return
        if isinstance(node, ast.Name):
            yield from self._of_name(node.id, context, left - 1)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            yield from self._makers(node.elt, context, left - 1)
        elif isinstance(node, ast.IfExp):
            for one in (node.body, node.orelse):
                yield from self._makers(one, context, left - 1)
        elif isinstance(node, ast.Subscript):
            if ast.unparse(node.value).rpartition(".")[2].endswith(_DATA):
                yield from self._named("__getitem__", methods=True)
            else:
                yield from self._makers(node.value, context, left - 1)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node, context, left - 1)

    def of_own_line(self, value: ast.expr, context: NameContext) -> OwnFunction | None:
        """The function that gave None to a line of the user's own: one that it called, or that it handed to what it goes through."""
        if not isinstance(value, ast.Name):
            return None
        given = given_values(value.id, context.function or context.source.tree, context.line)
        for call in given[:1]:
            if not isinstance(call, ast.Call):
                return None
            name = ast.unparse(call.func)
            passed_on = [self._named(ast.unparse(one.value), methods=False) for one in call.keywords]
            if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
                mine = [one for one in self.functions if one.name == call.func.attr and one.owner is not None]
                return mine[0] if len(mine) == 1 else None
            several = [*self._named(name, methods=False), *(one for some in passed_on for one in some)]
            return several[0] if len(several) == 1 else None
        return None

    def _of_name(self, name: str, context: NameContext, left: int) -> Iterator[OwnFunction]:
        function = context.function
        if function is None:
            return
        for value in given_values(name, function, context.line):
            yield from self._makers(value, context._replace(line=value.lineno), left)
        if name not in parameters(function):
            return
        at = self._outer(context)
        outer = self._trace.context(at) if at is not None else None
        if at is None or outer is None or at in self._trace.own:
            return
        frame = self._trace.frames[at]
        call = called(outer.source.tree, frame, code(frame), marked(frame), function, "")
        if call is None:
            return
        given = passed(call, name, position_of(function, name, method=context.owner is not None))
        if isinstance(given, ast.expr):
            yield from self._makers(given, outer, left)

    def _outer(self, context: NameContext) -> int | None:
        """The frame that called the function of a frame: a comprehension has a frame of its own inside of its function."""
        at, function = context.at, context.function
        while at is not None and function is not None and at > 0:
            at -= 1
            outer = self._trace.context(at)
            if (
                outer is None
                or outer.function is not function
                or not self._trace.frames[at + 1].function.startswith("<")
            ):
                return at
        return None

    def _of_call(self, call: ast.Call, context: NameContext, left: int) -> Iterator[OwnFunction]:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
        is_method = isinstance(call.func, ast.Attribute)
        yield from self._named(name, methods=is_method)
        given = self._trace.own_code.one(name) or self._trace.own_code.one(f"{name}s")
        if given is not None and isinstance(given.value, ast.Name):
            yield from self._named(given.value.id, methods=False)
        for origin in self._trace.origins(call.func, context) if context.at is not None else ():
            yield from self._in_value(origin.value)
        if len(call.args) == 1 and not call.keywords:  # a function that gives the same in another form
            yield from self._makers(call.args[0], context, left)

    def _in_value(self, text: str | None) -> Iterator[OwnFunction]:
        """The function whose name stands alone in a value: ``f``, ``[f]``."""
        try:
            value = ast.parse(text or "", mode="eval").body
        except (SyntaxError, ValueError):
            return
        parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
        if len(parts) == 1 and isinstance(parts[0], ast.Name):
            yield from self._named(parts[0].id, methods=False)

    def _named(self, name: str, *, methods: bool) -> list[OwnFunction]:
        """The one function of a name; none where several bear it. A library calls methods of classes that are made from its own."""
        found = [one for one in self.functions if one.name == name and (one.owner is not None) is methods]
        is_called = not methods or name.startswith("__") or any(map(self.is_derived, found))
        return found if len(found) == 1 and is_called else []

    def is_derived(self, one: OwnFunction) -> bool:
        """Whether a method's class is made from one that is not the user's own."""
        classes = {other.owner.name for other in self.functions if other.owner is not None}
        bases = [ast.unparse(base).rpartition(".")[2] for base in one.owner.bases] if one.owner is not None else []
        return any(base not in classes for base in bases)

    def given_to_library(self) -> Iterator[OwnFunction]:
        """The functions that a library calls: those that a call passes by name, objects of classes with ``__call__``, and methods of
        classes that are made from the library's own."""
        passed_on = {name for source in self._trace.own_sources for name in _passed_on(source)}
        for one in self.functions:
            if one.owner is None or one.name == "__call__":
                if (one.name if one.owner is None else one.owner.name) in passed_on:
                    yield one
            elif self.is_derived(one):
                yield one


def names_of(maker: OwnFunction, trace: Trace) -> set[str]:
    """How the user's files name a function where they pass it on: its own name, or its class and the objects of the class."""
    if maker.owner is None:
        return {maker.name}
    several = [pair for source in trace.own_sources for pair in _objects(source).items()]
    return {maker.owner.name, *(name for name, made in several if made == maker.owner.name)}


def _objects(source: SourceFile) -> dict[str, str]:
    """The names that a file gives the result of a call, and what is called."""
    return {
        target.id: ast.unparse(node.value.func)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _passed_on(source: SourceFile) -> Iterator[str]:
    """What the calls of a file pass on: the names, and the classes of objects that are made there or on a line before."""
    made = _objects(source)
    for call in ast.walk(source.tree):
        if isinstance(call, ast.Call):
            for part in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(part, ast.Name):
                    yield from (part.id, made.get(part.id, part.id))
                elif isinstance(part, ast.Call):
                    yield ast.unparse(part.func)
