"""A pattern of the user's own that found nothing: its value, and a text of the file that it does not fit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import re2

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.statements import statement_at
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"^'NoneType' object has no attribute '(?P<a>group|groups|groupdict|span|start|end)'$")
_FINDS = ("search", "match", "fullmatch")
_BEGIN = lazy.compile(r"^[\w #:<>=/,;'\"!@%&~`-]{2,40}")
_NUMBER = ("-?", r"\$?", r"\s*", r"-?\$?")
"""What may stand before a digit."""
MAX_PATTERN, MAX_SAMPLE, MAX_TEXTS = 120, 60, 400


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that shows the pattern; None where the file does not show it."""
    said, context = _MESSAGE.match(failure.message), trace.context(len(trace.frames) - 1)
    if said is None or context is None:
        return None
    asked = [
        node.value
        for node in ast.walk(statement_at(context) or ast.Pass())
        if isinstance(node, ast.Attribute) and node.attr == said["a"]
    ]
    call = own_flow.way(asked[0], context)[-1] if len(asked) == 1 else None
    given = pattern_of(call.value, call.context) if call is not None else None
    if given is None:
        return None
    name, pattern, line = given
    file = PurePath(context.source.path).name
    shown = raw(pattern)
    key = "pattern-none" if name else "pattern-literal"
    name = name or shown
    found.condition = say(key, lang, x=name, v=shown)
    found.origins = [Origin(name, "data", "", shown, True, place=f"{file}:{line}"), *found.origins]
    sample = next(_unfit(pattern, context), None)
    if sample is not None:
        text, where = sample
        found.condition = say("pattern-sample", lang, told=found.condition, y=text, place=f"{file}:{where}")
        if (folded := compiled(pattern, "(?i)")) is not None and folded.search(text) is not None:
            value = f"re.compile({shown}, re.IGNORECASE)"
            code = f"{name} = {value}" if name.isidentifier() else value
            found.remedies.insert(0, Remedy("do-set", (("x", name), ("y", value)), code, "rule"))
        elif (wider := _wider(pattern, text)) is not None:
            code = f"{name} = re.compile({raw(wider)})" if name.isidentifier() else raw(wider)
            found.remedies.insert(0, Remedy("do-set", (("x", name), ("y", raw(wider))), code, "rule"))
    return found


def pattern_of(value: ast.expr, context: NameContext) -> tuple[str, str, int] | None:
    """The name of a pattern that a call looks for ("" for one that has none), its text, and the line that gives it."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr not in _FINDS:
        return None
    is_module = ast.unparse(value.func.value) in ("re", "regex")
    holder = value.args[0] if is_module and value.args else value.func.value
    made = own_flow.way(holder, context)[-1].value
    if isinstance(made, ast.Call) and ast.unparse(made.func) in ("re.compile", "regex.compile") and len(made.args) == 1:
        made = own_flow.way(made.args[0], context)[-1].value if not made.keywords else made
    text = literal(ast.unparse(made))
    name = ast.unparse(holder) if isinstance(holder, (ast.Name, ast.Attribute)) else ""
    return (name, text, made.lineno) if isinstance(text, str) and len(text) <= MAX_PATTERN else None


def _unfit(pattern: str, context: NameContext) -> Iterator[tuple[str, int]]:
    """What the texts of the file hold behind the pattern's own beginning, where the pattern does not fit."""
    begin = _BEGIN.match(pattern)
    tried = compiled(pattern)
    if begin is None or tried is None:
        return
    start = begin[0][:-1] if pattern[begin.end() : begin.end() + 1] in tuple("*+?{") else begin[0]
    texts = [node for node in ast.walk(context.source.tree) if isinstance(node, ast.Constant)][:MAX_TEXTS]
    for node in texts:
        if not isinstance(node.value, str) or node.value == pattern:
            continue
        for number, line in enumerate(node.value.split("\n")):
            at = line.lower().find(start.lower())
            part = line[at : at + MAX_SAMPLE]
            if at >= 0 and len(start) > 1 and tried.search(part) is None:
                is_one = node.lineno == node.end_lineno
                yield re.split(r'["}\n]', part)[0], node.lineno + (0 if is_one else number)


def _wider(pattern: str, text: str) -> str | None:
    """The pattern with something more before its first number, if it fits the text then, and the whole of its end."""
    at = pattern.find("\\d")
    at = at if at >= 0 else pattern.find("[0-9]")
    for more in _NUMBER if at > 0 and pattern[at - 1] in "( " else ():
        wider = pattern[:at] + more + pattern[at:]
        tried = compiled(wider)
        if tried is not None and (fits := tried.search(text)) is not None and fits.end() == len(text.rstrip()):
            return wider
    return None


def compiled(pattern: str, flags: str = "") -> Any:
    """A pattern that can be tried; None where RE2, which is linear, does not take it."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(flags + pattern, options)
    except re2.error:
        return None


def raw(text: str) -> str:
    """A pattern as people write it."""
    return f'r"{text}"' if '"' not in text and not text.endswith("\\") and "\n" not in text else repr(text)
