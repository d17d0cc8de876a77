"""What a name in the library's source comes from: the argument, option or variable that the user sets.

`Trace.origins` follows a name backwards: through assignments inside the function, ``self.x`` to where the class sets it, and
a parameter to the call one frame further out, whose line the traceback names. It ends at a call in the user's own code, at an
option of a configuration object, or where the source ends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from troubleshooter.explaining.calls import NOT_PASSED, PASSED_ON, Unseen, called, is_unbound, passed
from troubleshooter.explaining.classes import Attribute, attribute, field, is_construction
from troubleshooter.explaining.meant import names
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
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.shown import calls, code, is_whole, item_of, marked
from troubleshooter.explaining.sources import Function, Sources
from troubleshooter.observe.model import Frame

MAX_STEPS = 8
"""Assignments, attributes and calls that are followed for one name."""
HOLDERS = frozenset(
    ("args", "config", "training_args", "peft_config", "generation_config", "model_config", "cfg", "script_args")
)
"""Names of objects whose attributes the user sets by name."""
WORKED_OUT = frozenset(
    [
        "n_gpu",
        "device",
        "world_size",
        "process_index",
        "local_process_index",
        "parallel_mode",
        "train_batch_size",
        "eval_batch_size",
        "should_save",
        "should_log",
        "place_model_on_device",
        "distributed_state",
    ]
)
"""Attributes of training arguments that the object works out itself: nobody sets them."""


class Trace:
    """The frames of one traceback, the outermost first, with their source where it is here."""

    def __init__(self, frames: Sequence[Frame], sources: Sources) -> None:
        self.frames = frames
        self.sources = sources
        self.own = [n for n, frame in enumerate(frames) if is_own(frame)]

    def context(self, at: int) -> NameContext | None:
        source = self.sources.of(self.frames[at])
        if source is None:
            return None
        line = self.frames[at].line
        return NameContext(source, *source.around(line), line, at)

    def origins(self, expression: ast.expr, context: NameContext) -> list[Origin]:
        """The origins of all names in an expression, in its order, each once."""
        found: dict[tuple[str, str], Origin] = {}
        for part in references(expression, context):
            written = ast.unparse(part)
            for origin in self._follow(part, context, MAX_STEPS):
                found.setdefault((origin.name, origin.kind), origin._replace(expression=written))
        return list(found.values())

    def own_value(self, name: str) -> str | None:
        """The value that a call in the user's code gives an argument of this name, where exactly one does."""
        values = {
            ast.unparse(keyword.value)
            for at in self.own
            for call in self._calls_of_file(at)
            for keyword in call.keywords
            if keyword.arg == name
        }
        return values.pop() if len(values) == 1 else None

    @cached_property
    def own_calls(self) -> list[ast.Call]:
        """The calls in the user's own lines, the innermost line first; with all lines of a statement where its file is here."""
        found: list[ast.Call] = []
        for at in reversed(self.own):
            line, source = self.frames[at].line, self.sources.of(self.frames[at])
            whole = [
                call
                for call in (self._calls_of_file(at) if source is not None else ())
                if call.lineno <= line <= (call.end_lineno or call.lineno)
            ]
            found += whole or calls(code(self.frames[at]))
        return found

    def _calls_of_file(self, at: int) -> Iterator[ast.Call]:
        source = self.sources.of(self.frames[at])
        if source is not None:
            yield from (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
        else:
            yield from calls(code(self.frames[at]))

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
                out = [one._replace(exact=False, each=_goes_through(value)) for one in out]
        return out

    def _all(self, value: ast.expr, context: NameContext, left: int) -> list[Origin]:
        """The origins of what was assigned or passed."""
        found: list[Origin] = []
        values = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        for part in (one for some in values for one in references(some, context)):
            found += self._follow(part, context, left)
        return found if is_taken_over(value) else [one._replace(exact=False) for one in found]

    def _attribute(self, node: ast.Attribute, context: NameContext, left: int) -> list[Origin]:
        chain = ast.unparse(node).split(".")
        if not all(part.isidentifier() for part in chain):
            if isinstance(node.value, ast.Subscript) and ast.unparse(node.value.value).rpartition(".")[2] in HOLDERS:
                return [self._option(node.attr, "")]  # one of several configurations
            return self._part(node.value, context, left)
        holder = next((n for n, part in enumerate(chain[:-1]) if part in HOLDERS), None)
        if holder is not None:
            owner = annotation_of(context.function, chain[holder]) or self._class_of_holder(
                chain[: holder + 1], context
            )
            return _whole([self._option(chain[holder + 1], owner)], chain[holder + 2 :])
        if chain[0] in ("self", "cls") and context.owner is not None:
            found = attribute(self.sources, context.source, context.owner, chain[1], context.function, context.line)
            return _whole(self._own_attribute(found, chain[1], context, left), chain[2:])
        annotation = annotation_of(context.function, chain[0])
        if annotation.endswith(("Config", "Arguments", "Args")):
            return _whole([self._option(chain[1], annotation)], chain[2:])
        return self._part(ast.Name(chain[0], ast.Load()), context, left)

    def _class_of_holder(self, chain: list[str], context: NameContext) -> str:
        return "" if chain[0] != "self" else annotation_of(constructor(context), chain[-1])

    def _option(self, name: str, owner: str) -> Origin:
        value = self.own_value(name)
        if value is None and (name in WORKED_OUT or name.startswith(("is_", "has_"))):
            return Origin(name, "attribute", owner)
        return Origin(name, "option", owner, value, True if value is not None else None)

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
            out = [same if _is_converted(found.value) else same._replace(exact=False)]
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
                    value_seen = self.own_value(name)
                    return origin._replace(
                        owner=ast.unparse(call.func), value=value_seen, passed=True if value_seen else None
                    )
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
            item = item_of(text, marked(frame)) if name == _item_parameter(function) else None
            if at in self.own and item is not None:
                return [origin._replace(value=ast.unparse(item), passed=True)]
            call = called(outer.source.tree if outer else None, frame, text, marked(frame), function, owner)
            if call is None:
                return [origin._replace(lost=at not in self.own)]
            unbound = context.owner is not None and is_unbound(call)
            value = passed(call, name, position + 1 if unbound and position is not None else position)
            if isinstance(value, Unseen) and value is PASSED_ON:
                if at in self.own:
                    value_seen = self.own_value(name)
                    return [origin._replace(value=value_seen, passed=True if value_seen else None)]
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
                return [origin._replace(value=ast.unparse(value), passed=True)]
            if outer is None:
                return [origin._replace(lost=True)]
            inner = self._all(value, outer, left - 1)
            if inner:
                return inner
            # The library itself passes it: nothing of this name is the user's to set.
            shown = ast.unparse(value) if isinstance(value, ast.Constant) else None
            return [origin._replace(kind="attribute", value=shown)]
        return [origin]


def options_in(context: NameContext, message: str) -> list[Origin]:
    """The options that a function reads of an object of settings and that a message names in words: "target modules"."""
    if context.function is None:
        return []
    read = {
        node.attr: None
        for node in ast.walk(context.function)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).rpartition(".")[2] in HOLDERS
    }
    return [Origin(name, "option") for name in read if "_" in name and names(message, name)]


def _goes_through(value: ast.expr) -> bool:
    """Whether a loop over a value has its items one by one: ``x``, ``x.items()``, ``enumerate(x)``."""
    if isinstance(value, ast.Call) and len(value.args) <= 1:
        func = value.func
        if isinstance(func, ast.Attribute):
            return func.attr in ("items", "values") and is_reference(func.value)
        return isinstance(func, ast.Name) and func.id == "enumerate" and all(map(is_reference, value.args))
    return is_reference(value)


def _is_converted(value: ast.expr) -> bool:
    """Whether a value is the same in another form: ``int(x)``, ``Mode(x)``, ``set(x) if … else x``."""
    if isinstance(value, ast.IfExp):
        return all(is_reference(part) or _is_converted(part) for part in (value.body, value.orelse))
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and (value.func.id in _FORMS or value.func.id[:1].isupper())
        and len(value.args) == 1
        and is_reference(value.args[0])
    )


_FORMS = frozenset(("int", "float", "str", "bool", "list", "tuple", "set", "dict"))


def _whole(several: list[Origin], rest: Sequence[str]) -> list[Origin]:
    """The origins of an object, or of one of its attributes."""
    return [one._replace(exact=False) for one in several] if rest else several


def _item_parameter(function: Function) -> str:
    """The parameter that holds what stands in brackets: ``key`` of ``__getitem__(self, key)``."""
    names = parameters(function)
    return names[1] if function.name in ("__getitem__", "__setitem__", "__delitem__") and len(names) > 1 else ""
