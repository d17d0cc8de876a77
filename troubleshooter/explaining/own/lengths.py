"""The length of an object whose class the user's own file writes, and which has none."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.explaining.source.sources import Function
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_GIVES_LENGTH = "def __len__(self): return "
_MESSAGE = lazy.compile(r"^object of type '(?P<c>\w{1,80})' has no len\(\)")


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the class, and what its length is; None for a class that is not the user's."""
    said = _MESSAGE.match(failure.message)
    if said is None:
        return None
    classes = [one for source in trace.own_sources if (one := source.class_named(said["c"])) is not None]
    if len(classes) != 1:
        return None
    owner = classes[0]
    length = _length(owner)
    whole = _GIVES_LENGTH + (length or "...")
    asked = _asked(trace)
    found.condition = say("length-own", lang, c=owner.name)
    found.origins = [Origin(asked, "data")] if asked else found.origins
    found.remedies = [Remedy("length-give", (("x", owner.name), ("y", whole)), whole, "rule")]
    if asked.isidentifier() and length.startswith("self.") and length.count("(") == 0:
        other = f"{asked}.{length.removeprefix('self.')}"
        found.remedies.append(Remedy("length-other", (("x", f"len({asked})"), ("y", other)), other, "rule"))
    return found


def _asked(trace: Trace) -> str:
    """What the user's own line asks for its length; "" where a library's does."""
    frame = trace.frames[-1]
    if not is_own(frame):
        return ""
    for nodes in nodes_of(frame):
        several = [
            ast.unparse(node.args[0])
            for node in nodes
            if isinstance(node, ast.Call) and called(node) == "len" and len(node.args) == 1
        ]
        if len(several) == 1:
            return several[0]
    return ""


def _length(owner: ast.ClassDef) -> str:
    """How long an object is, as its class shows it: by what it goes through, or by what its items are taken from."""
    methods = {one.name: one for one in owner.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))}
    found: list[str] = []
    if (through := methods.get("__iter__")) is not None:
        loops = [node for node in through.body if isinstance(node, (ast.For, ast.While))]
        if len(loops) == 1 and isinstance(loops[0], ast.For) and _gives_each(loops[0]):
            found = [_of_loop(loops[0].iter)]
        if not loops:
            found = [one for node in ast.walk(through) if isinstance(node, ast.Return) and (one := _of_return(node))]
    elif (item := methods.get("__getitem__")) is not None:
        found = list(dict.fromkeys(_of_item(item)))
    return found[0] if len(found) == 1 else ""


def _gives_each(loop: ast.For) -> bool:
    """Whether a loop gives one thing in each of its rounds."""
    inside = [node for one in loop.body for node in ast.walk(one)]
    is_plain = not any(
        isinstance(node, (ast.For, ast.While, ast.Continue, ast.Break, ast.YieldFrom)) for node in inside
    )
    given = [one for one in loop.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield)]
    return is_plain and len(given) == 1 and sum(isinstance(node, ast.Yield) for node in inside) == 1


def _of_loop(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and called(value) == "range" and len(value.args) == 1:
        text = ast.unparse(value.args[0])
        return text if text.startswith(("self.", "len(self.")) else ""
    if isinstance(value, ast.Call) and called(value) == "enumerate" and value.args:
        value = value.args[0]
    return f"len({ast.unparse(value)})" if _is_own_attribute(value) else ""


def _of_return(node: ast.Return) -> str:
    value = node.value
    is_iter = isinstance(value, ast.Call) and called(value) == "iter" and len(value.args) == 1
    return f"len({ast.unparse(value.args[0])})" if is_iter and _is_own_attribute(value.args[0]) else ""  # type: ignore[union-attr]


def _of_item(item: Function) -> list[str]:
    """What the method takes the item of its own number from."""
    number = [one.arg for one in item.args.args][1:2]
    return [
        f"len({ast.unparse(node.value)})"
        for node in ast.walk(item)
        if isinstance(node, ast.Subscript) and [ast.unparse(node.slice)] == number and _is_own_attribute(node.value)
    ]


def _is_own_attribute(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
