"""A text that is split at a mark which it does not hold: the mark's value, and the mark that the file writes in its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.source.statements import statement_at
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_ONE_PART = lazy.compile(
    r"^(?:not enough values to unpack \(expected (?:at least )?\d{1,3}, got 1\)|list index out of range)"
)
_FORM = lazy.compile(r"^(?P<before>[^\w\s]{0,8} {0,2})(?P<word>\w[\w ]{0,30})(?P<after>[^\w\s]{0,8})$")
_ROLES = (
    ("response", "answer", "output", "completion", "assistant", "reply", "solution", "target", "summary", "bot", "gpt"),
    ("instruction", "question", "prompt", "input", "user", "human", "query", "problem", "task"),
)
"""Words for what a model writes, and for what it is asked."""
MAX_TEXT = 20_000


class Mark(NamedTuple):
    """A mark that the file writes. ``value``: with the white space around it that the other one has, too."""

    word: str
    value: str
    line: int


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that shows the mark; None where the line splits nothing, or at something that the file does not show."""
    context = trace.context(len(trace.frames) - 1)
    if context is None or _ONE_PART.match(failure.message) is None:
        return None
    several = [one for one in _splits(statement_at(context)) if _is_named(one, found)]
    step = own_flow.way(several[0].args[0], context)[-1] if len(several) == 1 else None
    value = literal(ast.unparse(step.value)) if step is not None else None
    if step is None or not isinstance(value, str) or not value.strip():
        return None
    call = several[0]
    name, text = ast.unparse(call.args[0]), ast.unparse(call.func.value)  # type: ignore[attr-defined]
    file = PurePath(context.source.path).name
    key = "mark-literal" if isinstance(call.args[0], ast.Constant) else "mark-absent"
    found.condition = say(key, lang, x=name, v=repr(value), t=text)
    place = f"{file}:{step.value.lineno}"
    found.origins = [Origin(name, "data", "", repr(value), True, place=place), Origin(text, "data")]
    look, guard = f"print(repr({text}))", f"if {name} in {text}:"
    found.remedies = [
        Remedy("own-look", (("x", look),), look, "rule"), Remedy("own-guard", (("x", guard),), guard, "rule"),
    ]  # fmt: skip
    others = _alike(value, context)
    if others:
        listed = ", ".join(dict.fromkeys(repr(one.value) for one in others))
        found.condition = say("mark-other", lang, told=found.condition, y=listed, place=f"{file}:{others[0].line}")
        meant = _meant(f"{name} {value}", others)
        if meant is None:
            found.remedies.insert(0, Remedy("do-one-of", (("x", name), ("y", listed)), None, "rule"))
        else:
            code = f"{name} = {meant!r}" if name.isidentifier() else repr(meant)
            found.remedies.insert(0, Remedy("do-set", (("x", name), ("y", repr(meant))), code, "rule"))
    return found


def _splits(statement: ast.stmt | None) -> Iterator[ast.Call]:
    """The calls that split a text at a mark and of which the statement takes more than the first part."""
    for node in ast.walk(statement) if statement is not None else ():
        value = node.value if isinstance(node, (ast.Assign, ast.Subscript)) else None
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) in ("0", "-1"):
            continue
        if isinstance(value, ast.Call) and called(value) in ("split", "rsplit") and _is_method(value):
            yield value


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and bool(call.args)


def _is_named(call: ast.Call, found: FoundPlace) -> bool:
    return bool(found.origins) and found.origins[0].name == ast.unparse(call)


def _alike(mark: str, context: NameContext) -> list[Mark]:
    """The marks of the same form that other texts of the file hold; none if one of them holds the very mark."""
    form = _FORM.match(mark.strip())
    if form is None or not (form["before"].strip() or form["after"]):
        return []
    begin = re.escape(form["before"]) if form["before"].strip() else r"^"
    pattern = re.compile(rf"{begin}(\w[\w ]{{0,30}}){re.escape(form['after']) or '$'}", re.MULTILINE)
    found: list[Mark] = []
    for node in ast.walk(context.source.tree):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if text == mark or len(text) > MAX_TEXT:
            continue
        if mark.strip() in text:
            return []
        found += [Mark(one[1], _as_written(one, text, mark), node.lineno) for one in pattern.finditer(text)]  # type: ignore[attr-defined]
    return list({one.value: one for one in found}.values())


def _as_written(one: re.Match[str], text: str, mark: str) -> str:
    """A mark with the white space that the other one has around it, as far as it stands there."""
    lead, tail = mark[: len(mark) - len(mark.lstrip())], mark[len(mark.rstrip()) :]
    before, after = text[: one.start()], text[one.end() :]
    return (lead if before.endswith(lead) else "") + one[0] + (tail if after.startswith(tail) else "")


def _meant(mark: str, others: list[Mark]) -> str | None:
    """The only other mark, or the only one that stands for the same side of a conversation."""
    for role in _ROLES:
        if any(word in mark.lower() for word in role):
            same = [one.value for one in others if any(word in one.word.lower() for word in role)]
            return same[0] if len(same) == 1 else None
    return others[0].value if len(others) == 1 else None
