"""The part of a text of the user's own that a library cannot take apart: ``a=1,2`` where each part between commas is to be ``key=value``.

The value is known, and so is the way in which the library's lines take it apart, which is done here again.
"""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import settable
from troubleshooter.explaining.origin import is_own
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source.names import given_values
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import code, parsed
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_UNPACKED = lazy.compile(r"^(?:not enough|too many) values to unpack \(expected (?P<n>\d{1,2})(?:, got \d{1,4})?\)$")
MAX_TEXT, MAX_STEPS = 10_000, 4
"""Characters of a text that is taken apart, and methods in a row that make it into another one."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that names the part; the same where the text or the way to take it apart is not seen."""
    said = _UNPACKED.match(failure.message)
    if said is None or found is None or found.remedies or is_own(trace.frames[-1]):
        return found
    context, split = trace.context(len(trace.frames) - 1), _split_in(code(trace.frames[-1]))
    if context is None or split is None or context.function is None:
        return found
    name, inner = split
    loops = given_values(name, context.function, context.line)
    if len(loops) != 1 or not isinstance(loops[0], ast.Call) or (outer := _separator(loops[0])) is None:
        return found
    origins = settable([one._replace(exact=True) for one in found.origins])
    texts = [(one, text) for one in origins if isinstance(text := literal(one.value), str) and len(text) <= MAX_TEXT]
    if len(texts) != 1:
        return found
    [(origin, text)] = texts
    made = _applied(loops[0].func, text)
    wrong = [one for one in made.split(outer) if len(one.split(inner)) != int(said["n"])] if made is not None else []
    if not wrong:
        return found
    found.condition = say("part-of", lang, p=wrong[0], x=origin.name, n=said["n"], s=inner)
    found.origins = [origin, *(one for one in found.origins if one.name != origin.name)]
    values = (("x", origin.name), ("s", inner), ("t", outer), ("n", said["n"]))
    found.remedies = [Remedy("part-write", values, f"{origin.name}=...", "rule")]
    return found


def _split_in(line: str) -> tuple[str, str] | None:
    """``x, "="`` of ``a, b = x.split("=")``."""
    tree = parsed(line)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            separator, func = _separator(node.value), node.value.func
            if separator is not None and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
                return func.value.id, separator
    return None


def _separator(call: ast.Call) -> str | None:
    """What a call of ``split`` splits at; None for other calls and for a number of splits."""
    is_split = isinstance(call.func, ast.Attribute) and call.func.attr == "split"
    if not is_split or len(call.args) != 1 or call.keywords:
        return None
    text = literal(ast.unparse(call.args[0]))
    return text if isinstance(text, str) and text else None


def _applied(func: ast.expr, text: str) -> str | None:
    """The text that is split: the user's own, after ``strip`` and ``replace``; None where something else is done to it."""
    node = func.value if isinstance(func, ast.Attribute) else func
    steps: list[tuple[str, list[str]]] = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(steps) < MAX_STEPS:
        given = [literal(ast.unparse(one)) for one in node.args]
        if node.keywords or not all(isinstance(one, str) for one in given):
            return None
        steps.append((node.func.attr, given))
        node = node.func.value
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    for method, given in reversed(steps):
        if method == "replace" and len(given) == 2:
            text = text.replace(given[0], given[1])
        elif method in ("strip", "lower") and not given:
            text = text.strip() if method == "strip" else text.lower()
        else:
            return None
    return text
