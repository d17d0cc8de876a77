"""What a name in the library's source comes from: the argument, option or variable that the user sets.

`Trace.origins` follows a name backwards: through assignments inside the function, ``self.x`` to where the class sets it, and
a parameter to the call one frame further out, whose line the traceback names. It ends at a call in the user's own code, at an
option of a configuration object, or where the source ends.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from troubleshooter.explaining.calls import NOT_PASSED, PASSED_ON, Unseen, called, is_unbound, passed
from troubleshooter.explaining.classes import Attribute, attribute, field, is_construction
from troubleshooter.explaining.forms import class_called, goes_through, is_converted, item_parameter, looked_up, whole
from troubleshooter.explaining.mappings import entry, mapping_of
from troubleshooter.explaining.names import (
    NameContext,
    annotation_of,
    asked_for,
    constructor,
    is_each,
    is_reference,
    is_taken_over,
    last_value,
    parameters,
    position_of,
    references,
    rest_names,
    rest_of,
    signature,
)  # fmt: skip
from troubleshooter.explaining.options import class_of, is_holder, is_worked_out, option_of
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.own_code import Given, OwnCode
from troubleshooter.explaining.shown import calls, code, is_whole, item_of, marked
from troubleshooter.explaining.sources import SourceFile, Sources
from troubleshooter.observe.model import Frame

MAX_STEPS = 8
"""Assignments, attributes and calls that are followed for one name."""
OPTION_STEPS = 4
"""The same inside of a property of a class of settings."""


class Trace:
    """The frames of one traceback, the outermost first, with their source where it is here."""

    def __init__(self, frames: Sequence[Frame], sources: Sources) -> None:
        self.frames = frames
        self.sources = sources
        self.own = [n for n, frame in enumerate(frames) if is_own(frame)]
        self.own_code = OwnCode(frames, sources, self.own)
        self._contexts: dict[int, NameContext | None] = {}

    def context(self, at: int) -> NameContext | None:
        if at not in self._contexts:
            source, line = self.sources.of(self.frames[at]), self.frames[at].line
            self._contexts[at] = NameContext(source, *source.around(line), line, at) if source is not None else None
        return self._contexts[at]

    def origins(self, expression: ast.expr, context: NameContext) -> list[Origin]:
        """The origins of all names in an expression, in its order, each once."""
        found: dict[tuple[str, str], Origin] = {}
        for part in references(expression, context):
            written = ast.unparse(part)
            for origin in self._follow(part, context, MAX_STEPS):
                found.setdefault((origin.name, origin.kind), origin._replace(expression=written))
        return list(found.values())

    @cached_property
    def own_sources(self) -> list[SourceFile]:
        """The user's own files, those that are here, the innermost first."""
        found = [self.sources.of(self.frames[at]) for at in reversed(self.own)]
        return list(dict.fromkeys(one for one in found if one is not None))

    @property
    def own_calls(self) -> list[ast.Call]:
        """The calls in the user's own lines, the innermost line first."""
        return self.own_code.calls

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
                return self._parameter(name, context, left - 1)
            if isinstance(node.func, ast.Name):
                return self._follow(ast.Attribute(root, name, ast.Load()), context, left)
            return self._environment(root, name) or self._follow(root, context, left - 1)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str):
                if isinstance(node.value, ast.Name) and node.value.id == rest_of(context.function):
                    return self._parameter(key, context, left - 1)
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
        value = last_value(name, function, context.line) if function is not None else None
        out: list[Origin] = []
        if function is not None and name in parameters(function):
            out += self._parameter(name, context, left - 1)
        if value is not None and not out:
            before = context._replace(line=value.lineno)
            out = self._all(value, before, left - 1)
            if function is not None and is_each(value, function):
                out = [one._replace(exact=False, each=goes_through(value)) for one in out]
        return out

    def _all(self, value: ast.expr, context: NameContext, left: int) -> list[Origin]:
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
                return self._option(node.attr, "", context, left)  # one of several configurations
            return self._part(node.value, context, left)
        holder = next((n for n, part in enumerate(chain[:-1]) if is_holder(part)), None)
        if holder is not None:
            owner = annotation_of(context.function, chain[holder]) or self._class_of_holder(
                chain[: holder + 1], context
            )
            return whole(self._option(chain[holder + 1], owner, context, left), chain[holder + 2 :])
        if chain[0] in ("self", "cls") and context.owner is not None:
            found = attribute(self.sources, context.source, context.owner, chain[1], context.function, context.line)
            return whole(self._own_attribute(found, chain[1], context, left), chain[2:])
        annotation = annotation_of(context.function, chain[0])
        if annotation.endswith(("Config", "Arguments", "Args")):
            return whole(self._option(chain[1], annotation, context, left), chain[2:])
        return self._part(ast.Name(chain[0], ast.Load()), context, left)

    def _class_of_holder(self, chain: list[str], context: NameContext) -> str:
        return "" if chain[0] != "self" else annotation_of(constructor(context), chain[-1])

    def _option(self, name: str, owner: str, context: NameContext, left: int) -> list[Origin]:
        """An option of an object of settings, with what the user's file gives it and what its class says of it."""
        given = self.own_code.one(name, owner)
        owner = owner or (class_called(given.holder) if given is not None else "")
        class_ = self._settings(owner, context)
        said = option_of(class_, name, self.sources) if class_ is not None and left >= 0 else None
        origin = Origin(name, "option", owner)
        if said is not None and said.field:
            origin = origin._replace(default=said.default, annotation=said.annotation)
        if given is not None:
            return [self._given(origin, given)]
        if said is not None and said.value is not None and (behind := self._worked_out(said, owner, context)):
            return behind
        return [origin._replace(kind="attribute") if is_worked_out(name) else origin]

    def _settings(self, name: str, context: NameContext) -> Attribute | None:
        """The class of an object of settings, as the library's file or the user's own imports it."""
        found = class_of(name, context.source, self.sources)
        library = context.source if context.source.below else None
        for source in self.own_sources if found is None and library is not None else ():
            found = found or class_of(name, source, self.sources, library)
        return found

    def _worked_out(self, said: Attribute, owner: str, context: NameContext) -> list[Origin]:
        """The fields that a property of a class of settings is worked out from."""
        assert said.value is not None
        inside = NameContext(said.source, said.owner, said.function, said.value.lineno, None)
        out: list[Origin] = []
        for one in self._all(said.value, inside, OPTION_STEPS):
            if field(self.sources, said.source, said.owner, one.name) is not None and not one.name.startswith("_"):
                out += self._option(one.name, owner, context, -1)
        return [one._replace(exact=False) for one in out]

    def _given(self, origin: Origin, given: Given) -> Origin:
        """An origin with the value that the user's file gives it, and with the line if the traceback does not show that."""
        place = "" if self.own_code.is_in_line(given) else given.place
        return origin._replace(value=given.text, passed=True, place=place)

    def _own_attribute(self, found: Attribute | None, name: str, context: NameContext, left: int) -> list[Origin]:
        if found is None:
            return [Origin(name, "attribute", context.owner.name if context.owner else "")]
        if found.field:
            return [self._constructed(name, found, context)]
        assert found.value is not None
        at = self._frame_of(found, context)
        inside = NameContext(found.source, found.owner, found.function, found.value.lineno, at)
        itself = {f"self.{name}", f"cls.{name}"}
        out: list[Origin] = []
        if not any(ast.unparse(part) in itself for part in references(found.value, inside)):
            out = self._all(found.value, inside, left - 1)
        elif context.owner is not None and (given := field(self.sources, context.source, context.owner, name)):
            same = self._constructed(name, given, context)
            out = [same if is_converted(found.value) else same._replace(exact=False)]
        return out or [Origin(name, "attribute", context.owner.name if context.owner else "")]

    def _frame_of(self, found: Attribute, context: NameContext) -> int | None:
        """The frame in which the attribute was set, if that function is still running."""
        if found.function is None:
            return None
        for at in range(context.at if context.at is not None else -1, -1, -1):
            frame = self.frames[at]
            inside = found.function.lineno <= frame.line <= (found.function.end_lineno or 0)
            if inside and frame.path.endswith(found.source.below or found.source.path):
                return at
        return None

    def _constructed(self, name: str, found: Attribute, context: NameContext) -> Origin:
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
                    return origin._replace(value=shown, passed=True, owner=ast.unparse(call.func))
                if value is NOT_PASSED and not call.args and is_whole(code(self.frames[at])):
                    return origin._replace(value=found.default, passed=False, owner=ast.unparse(call.func))
                if at in self.own:
                    origin = origin._replace(owner=ast.unparse(call.func))
                    given = self.own_code.one(name, class_called(origin.owner))
                    return self._given(origin, given) if given is not None else origin
        return origin

    def _parameter(self, name: str, context: NameContext, left: int) -> list[Origin]:
        """A parameter: what the call one frame further out passes for it."""
        function, at = context.function, context.at
        if function is None:
            return []
        owner = context.owner.name if context.owner is not None and function.name.startswith("__") else function.name
        if name in rest_names(function):  # what it holds has names of its own
            return [Origin(name, "data", owner)]
        default, annotation = signature(function, name)
        origin = Origin(name, "argument", owner, None, None, default, annotation)
        position = position_of(function, name, method=context.owner is not None)
        while at is not None and at > 0:
            at -= 1
            frame = self.frames[at]
            if frame.file.startswith("<") or frame.path.endswith("/contextlib.py"):
                continue
            outer = self.context(at)
            text = code(frame)
            item = item_of(text, marked(frame)) if name == item_parameter(function) else None
            if at in self.own and item is not None:
                return [origin._replace(value=ast.unparse(item), passed=True)]
            call = called(outer.source.tree if outer else None, frame, text, marked(frame), function, owner)
            if call is None:
                return [origin._replace(lost=at not in self.own)]
            unbound = context.owner is not None and is_unbound(call)
            value = passed(call, name, position + 1 if unbound and position is not None else position)
            if isinstance(value, Unseen) and value is PASSED_ON:
                if at in self.own:
                    given = self.own_code.one(name, ast.unparse(call.func).rpartition(".")[2])
                    return [self._given(origin, given) if given is not None else origin]
                if (behind := self._behind_mapping(call, name, outer, left)) is not None:
                    return behind or [origin._replace(lost=True)]
                position = position if any(isinstance(part, ast.Starred) for part in call.args) else None
                continue
            if isinstance(value, Unseen):
                if default is None:  # it has to be passed, so this call does, in a way that is not seen
                    return [origin._replace(lost=True)]
                whole = outer is not None or is_whole(text)
                # What a library's own call leaves out is not the user's to pass.
                lost = default == "None" and at not in self.own
                return [origin._replace(value=default if whole else None, passed=False if whole else None, lost=lost)]
            if at in self.own:
                return [origin._replace(value=ast.unparse(self.own_code.written(value, at)), passed=True)]
            if outer is None:
                return [origin._replace(lost=True)]
            inner = self._all(value, outer, left - 1)
            if inner:
                return inner
            # The library itself passes it: nothing of this name is the user's to set.
            shown = ast.unparse(value) if isinstance(value, ast.Constant) else None
            return [origin._replace(kind="attribute", value=shown)]
        made = self.own_code.made(name, owner) if at is None and context.owner is not None else None
        return [self._given(origin, made) if made is not None else origin]

    def _behind_mapping(self, call: ast.Call, name: str, context: NameContext | None, left: int) -> list[Origin] | None:
        """The origins of an argument that a library's call passes within ``**mapping``; None where that is what it got itself."""
        mapping = mapping_of(call)
        if context is None or context.function is None or mapping is None:
            return None
        if isinstance(mapping, ast.Name) and mapping.id in parameters(context.function):
            return None
        found = entry(mapping, name, context)
        if found is None:  # it may have been made from what the function itself got
            return None if rest_of(context.function) else []
        return self._all(found[0], found[1], left - 1)
