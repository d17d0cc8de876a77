"""An argument of the user's own call that a library takes apart into several names: ``optimizers=optimizer`` in place of a pair."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.names import parameters, signature
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_lines import named_arguments
from troubleshooter.explaining.source.shown import code, parsed
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"^cannot unpack non-iterable (?P<t>(?!NoneType)[\w.]{1,80}) object$")


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the parts that are wanted, where the user's call passes one value for the argument."""
    said = _MESSAGE.match(failure.message) if failure.type == "TypeError" else None
    context = trace.context(len(trace.frames) - 1) if said is not None else None
    taken = _taken(parsed(code(trace.frames[-1]))) if said is not None else None
    if said is None or context is None or context.function is None or taken is None:
        return found
    names, argument = taken
    value = named_arguments(trace).get(argument) if argument in parameters(context.function) else None
    if value is None:
        return found
    default, _ = signature(context.function, argument)
    text = f"{argument}=({', '.join(_filled(names, value, default))})"
    found = found or FoundPlace(None, "", [], [], "rule")
    found.condition = say("taken-apart", lang, x=argument, y=", ".join(names), t=said["t"])
    origin = Origin(argument, "argument", "", value, True)
    found.origins = [origin, *(one for one in found.origins if one.name != argument)]
    found.remedies = [Remedy("taken-apart-all", (("x", argument), ("y", ", ".join(names)), ("z", text)), text, "rule")]
    return found


def _taken(tree: ast.Module | None) -> tuple[list[str], str] | None:
    """The names of a line ``self.a, self.b = both``, and the name ``both``."""
    statement = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
        return None
    [target, *others] = statement.targets
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) and not others else []
    names = [
        one.attr if isinstance(one, ast.Attribute) else one.id
        for one in parts
        if isinstance(one, (ast.Attribute, ast.Name))
    ]
    return (names, statement.value.id) if len(names) == len(parts) > 1 else None


def _filled(names: list[str], value: str, default: str | None) -> list[str]:
    """The parts: the user's value in the place of its name, or of one like it, else in the first; the others as the default has them."""
    usual = ast.parse(default, mode="eval").body if default else None
    parts = ["..."] * len(names)
    if isinstance(usual, ast.Tuple) and len(usual.elts) == len(names):
        parts = [ast.unparse(one) for one in usual.elts]
    alike = [n for n, name in enumerate(names) if value.lower() in name.lower() or name.lower() in value.lower()]
    place = names.index(value) if value in names else alike[0] if alike else 0
    return [*parts[:place], value, *parts[place + 1 :]]
