"""A group that the user's own pattern does not have: how many it has, and where the round brackets may be missing."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.own import searched
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import call_of
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = "no such group"
_ASKED = ("group", "start", "end", "span")
_PART = lazy.compile(
    r"(?:-\??|\[-\+\]\??|\[\+-\]\??)?(?:\\d|\[0-9\])[+*]?(?:\{\d{1,3}(?:,\d{0,3})?\})?(?:\\\.(?:\\d|\[0-9\])[+*])?"
    r"|(?:\\w|\\S|\.|\[\^?[^\]\\\n]{1,30}\])[+*]\??"
)
"""A part of a pattern that stands for what differs from text to text."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the pattern; None where the file does not show it."""
    context = trace.context(len(trace.frames) - 1)
    if failure.type != "IndexError" or failure.message != _MESSAGE or context is None:
        return None
    asked = call_of(trace.frames[-1], *_ASKED)
    step = own_flow.way(asked.func.value, context)[-1] if asked and isinstance(asked.func, ast.Attribute) else None
    given = searched.pattern_of(step.value, step.context) if step is not None else None
    if asked is None or given is None or len(asked.args) != 1:
        return None
    name, pattern, line = given
    compiled, number = searched.compiled(pattern), literal(ast.unparse(asked.args[0]))
    if compiled is None or not isinstance(number, (int, str)):
        return None
    shown, place = searched.raw(pattern), file_line(context.source.path, line)
    found.condition = say("group-count", lang, x=name or shown, v=shown, n=compiled.groups, k=repr(number))
    found.origins = [Origin(name or shown, "data", "", shown, True, place=place), *found.origins]
    look, found.remedies = found.remedies, []
    if compiled.groups == 0:
        with_group = _bracketed(pattern, number, _most(asked, context))
        if with_group is not None:
            found.remedies.append(
                Remedy("group-brackets", (("x", searched.raw(with_group)),), searched.raw(with_group), "rule")
            )
    if isinstance(number, int):
        text = ast.unparse(ast.Call(asked.func, [ast.Constant(compiled.groups)], []))
        key = "group-last" if compiled.groups else "group-whole"
        found.remedies.append(Remedy(key, (("x", text),), text, "rule"))
    if compiled.groups or not found.remedies:
        found.remedies += look
    return found


def _most(asked: ast.Call, context: NameContext) -> int:
    """The largest number of a group that the function, or the file, asks the same thing for."""
    scope = context.function or context.source.tree
    func = ast.unparse(asked.func)
    calls = [node for node in ast.walk(scope) if isinstance(node, ast.Call) and ast.unparse(node.func) == func]
    numbers = [literal(ast.unparse(one)) for call in calls for one in call.args]
    return max((one for one in numbers if isinstance(one, int)), default=0)


def _bracketed(pattern: str, number: int | str, most: int) -> str | None:
    """The pattern with brackets around each part of it that differs from text to text; None where it has more such parts, or fewer, than
    groups are asked for."""
    parts = [one for one in _PART.finditer(pattern) if one[0] and not _is_escaped(pattern, one.start())]
    if len(parts) != (most if isinstance(number, int) else 1):
        return None
    begin = "(" if isinstance(number, int) else f"(?P<{number}>"
    whole = pattern
    for part in reversed(parts):
        whole = f"{whole[: part.start()]}{begin}{part[0]}){whole[part.end() :]}"
    tried = searched.compiled(whole)
    return whole if parts and tried is not None and tried.groups == len(parts) else None


def _is_escaped(pattern: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before a character."""
    before = pattern[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
