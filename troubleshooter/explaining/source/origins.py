"""What a name in the library's source comes from: the argument, option or variable that the user sets.

`Trace.origins` follows a name backwards: through assignments inside the function, ``self.x`` to where the class sets it, and
a parameter to the call one frame further out, whose line the traceback names. It ends at a call in the user's own code, at an
option of a configuration object, or where the source ends.
"""

from __future__ import annotations

import ast

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.source.argument_origins import constructed, parameter
from troubleshooter.explaining.source.classes import Attribute, attribute, field
from troubleshooter.explaining.source.forms import goes_through, is_converted, looked_up, whole
from troubleshooter.explaining.source.frames import TraceFrames
from troubleshooter.explaining.source.names import (
    NameContext,
    annotation_of,
    asked_for,
    binds,
    constructor,
    is_each,
    is_reference,
    is_taken_over,
    last_value,
    parameters,
    references,
    rest_of,
)  # fmt: skip
from troubleshooter.explaining.source.option_origins import option
from troubleshooter.explaining.source.options import is_holder

MAX_STEPS = 10
"""Assignments, attributes and calls that are followed for one name."""


class Trace(TraceFrames):
    """The frames of one traceback, and the way of a name through them."""

    def origins(self, expression: ast.expr, context: NameContext) -> list[Origin]:
        """The origins of all names in an expression, in its order, each once."""
        found: dict[tuple[str, str], Origin] = {}
        for part in references(expression, context):
            written = ast.unparse(part)
            for origin in self._follow(part, context, MAX_STEPS):
                origin = self.told_by_run(origin)
                found.setdefault((origin.name, origin.kind), origin._replace(expression=written))
        return list(found.values())

    def _follow(self, node: ast.expr, context: NameContext, left: int) -> list[Origin]:
        if left <= 0:
            return []
        if isinstance(node, ast.Name):
            return self._name(node.id, context, left)
        if isinstance(node, ast.Call):  # getattr(x, "name", default), x.get("name")
            name = asked_for(node)
            if name is None:
                return []
            root = node.args[0] if isinstance(node.func, ast.Name) else node.func.value  # type: ignore[attr-defined]
            if isinstance(root, ast.Name) and root.id == rest_of(context.function):
                return parameter(self, name, context, left - 1)
            if isinstance(node.func, ast.Name):
                return self._follow(ast.Attribute(root, name, ast.Load()), context, left)
            return self._environment(root, name) or self._follow(root, context, left - 1)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str):
                if isinstance(node.value, ast.Name) and node.value.id == rest_of(context.function):
                    return parameter(self, key, context, left - 1)
                if found := self._environment(node.value, key):
                    return found
            return self._part(node.value, context, left)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, context, left)
        return []

    def _part(self, whole: ast.expr, context: NameContext, left: int) -> list[Origin]:
        """The origins of something of which only a part is read."""
        found = self._follow(whole, context, left - 1) if is_reference(whole) else []
        return [one._replace(exact=False) for one in found]

    def _environment(self, root: ast.expr, name: str) -> list[Origin]:
        return [Origin(name, "environment")] if ast.unparse(root) in ("os.environ", "environ") else []

    def _name(self, name: str, context: NameContext, left: int) -> list[Origin]:
        function = context.function
        if name in ("self", "cls"):
            return []  # the object itself is nothing that a user sets
        if function is not None and not binds(function, name):
            around = self.around(context)
            return self._name(name, around, left - 1) if around is not None and left > 0 else []
        value = last_value(name, function, context.line) if function is not None else None
        out: list[Origin] = []
        if function is not None and name in parameters(function):
            out += parameter(self, name, context, left - 1)
        if value is not None and not out:
            before = context._replace(line=value.lineno)
            out = self.origins_of_value(value, before, left - 1)
            if function is not None and is_each(value, function):
                out = [one._replace(exact=False, each=goes_through(value)) for one in out]
        return out

    def origins_of_value(self, value: ast.expr, context: NameContext, left: int) -> list[Origin]:
        """The origins of what was assigned or passed."""
        found: list[Origin] = []
        if (otherwise := looked_up(value)) is not None:
            value = otherwise
        values = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        for part in (one for some in values for one in references(some, context)):
            found += self._follow(part, context, left)
        return found if is_taken_over(value) else [one._replace(exact=False) for one in found]

    def _attribute(self, node: ast.Attribute, context: NameContext, left: int) -> list[Origin]:
        chain = ast.unparse(node).split(".")
        if not all(part.isidentifier() for part in chain):
            if isinstance(node.value, ast.Subscript) and is_holder(ast.unparse(node.value.value).rpartition(".")[2]):
                return option(self, node.attr, "", context, left)  # one of several configurations
            return self._part(node.value, context, left)
        holder = next((n for n, part in enumerate(chain[:-1]) if is_holder(part)), None)
        if holder is not None:
            owner = annotation_of(context.function, chain[holder]) or self._class_of_holder(
                chain[: holder + 1], context
            )
            return whole(option(self, chain[holder + 1], owner, context, left), chain[holder + 2 :])
        if chain[0] in ("self", "cls") and context.owner is not None:
            found = attribute(self.sources, context.source, context.owner, chain[1], context.function, context.line)
            return whole(self._own_attribute(found, chain[1], context, left), chain[2:])
        annotation = annotation_of(context.function, chain[0])
        if annotation.endswith(("Config", "Arguments", "Args")):
            return whole(option(self, chain[1], annotation, context, left), chain[2:])
        return self._part(ast.Name(chain[0], ast.Load()), context, left)

    def _class_of_holder(self, chain: list[str], context: NameContext) -> str:
        return "" if chain[0] != "self" else annotation_of(constructor(context), chain[-1])

    def _own_attribute(self, found: Attribute | None, name: str, context: NameContext, left: int) -> list[Origin]:
        if found is None:
            return [Origin(name, "attribute", context.owner.name if context.owner else "")]
        if found.field:
            return [constructed(self, name, found, context)]
        assert found.value is not None
        at = self.frame_of(found, context)
        inside = NameContext(found.source, found.owner, found.function, found.value.lineno, at)
        itself = {f"self.{name}", f"cls.{name}"}
        out: list[Origin] = []
        if not any(ast.unparse(part) in itself for part in references(found.value, inside)):
            out = self.origins_of_value(found.value, inside, left - 1)
        elif context.owner is not None and (given := field(self.sources, context.source, context.owner, name)):
            same = constructed(self, name, given, context)
            out = [same if is_converted(found.value) else same._replace(exact=False)]
        return out or [Origin(name, "attribute", context.owner.name if context.owner else "")]
