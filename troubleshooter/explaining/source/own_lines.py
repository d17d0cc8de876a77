"""What the user's own lines of a traceback pass on: values by keyword, and texts and numbers with the keyword they belong to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal
from troubleshooter.explaining.source.origins import Trace

_SAME_LENGTH = lazy.compile(
    r"(?i)\b(?:must|should|have to|need to) (?:have (?:the )?same|be of (?:the )?(?:same|equal)|have equal) (?:size|length|len)\b"
)


def passed_values(trace: Trace) -> dict[str, str]:
    """The literal arguments of the calls in the user's own lines, the innermost line first, by keyword."""
    out: dict[str, str] = {}
    for call in trace.own_calls:
        for keyword in call.keywords:
            if keyword.arg is not None and literal(ast.unparse(keyword.value)) is not UNKNOWN:
                out.setdefault(keyword.arg, ast.unparse(keyword.value))
    return out


def named_arguments(trace: Trace) -> dict[str, str]:
    """All arguments that the calls in the user's own lines pass by keyword, as source, those of the innermost line first."""
    out: dict[str, str] = {}
    for call in trace.own_calls:
        for keyword in call.keywords:
            if keyword.arg is not None:
                out.setdefault(keyword.arg, ast.unparse(keyword.value))
    return out


def keywords_of(trace: Trace, value: str) -> dict[str, str]:
    """The keywords under which the user's own calls pass a text, also within a list or a dictionary, and how they spell it."""
    out: dict[str, str] = {}
    for call in trace.own_calls:
        for keyword in call.keywords:
            same = [one for one in texts_of(keyword.value) if one.lower() == value.lower()]
            if keyword.arg is not None and same:
                out.setdefault(keyword.arg, same[0])
    return out


def texts_of(node: ast.expr) -> list[str]:
    """The texts that are written in a value, not in a call inside of it."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [text for part in node.elts for text in texts_of(part)]
    return [text for part in node.values for text in texts_of(part)] if isinstance(node, ast.Dict) else []


def tied(origin: Origin, passed: dict[str, str], message: str, value: str | None) -> Origin:
    """An origin whose way to the user's call is not seen, with the value of the user's own argument of its name.

    Only where the message shows that very value (``value``), or names the argument while nothing shows another value.
    """
    is_open = origin.lost or origin.passed is None
    if not is_open or origin.name not in passed or origin.kind not in ("argument", "option", "attribute"):
        return origin
    same = literal(value) == literal(passed[origin.name]) if value else names(message, origin.name)
    if not same or origin.value not in (None, passed[origin.name]):
        return origin
    return origin._replace(kind="argument", value=passed[origin.name], passed=True, lost=False)


def literals(trace: Trace) -> dict[str, str]:
    """The texts and numbers of the user's own lines, each with the keyword that it is the value of, "" without one."""
    out: dict[str, str] = {}
    within: list[ast.expr] = []
    for call in trace.own_calls:
        for name, value in [(k.arg or "", k.value) for k in call.keywords] + [("", one) for one in call.args]:
            if isinstance(value, ast.Constant) and isinstance(value.value, (str, int, float)):
                out.setdefault(str(value.value), name)
            else:
                within.append(value)
    for value in within:
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                out.setdefault(node.value, "")
    return out


def equally_long(people: list[Origin], message: str) -> Iterator[Remedy]:
    """The two arguments of the user's own that a line used, where the message says that two things have to be equally long."""
    several = [one.name for one in people if one.passed and not isinstance(literal(one.value), (int, float))]
    mine = list(dict.fromkeys(several))
    if len(mine) == 2 and _SAME_LENGTH.search(message):
        yield Remedy("do-lengths", (("x", mine[0]), ("y", mine[1])), f"{mine[1]}=...", "message")
