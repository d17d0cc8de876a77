"""An async function of the user's own that is called without ``await``, so that a coroutine stands in the place of its result."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import functions_of
from troubleshooter.explaining.source.own_imports import definition, modules_of, names_from
from troubleshooter.explaining.source.sources import SourceFile
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"['\"]coroutine['\"]|\b(?:not|got|type) coroutine\b")
_WARNED = lazy.compile(r"coroutine '(?:[\w.<>]{1,120}\.)?(\w{1,80})' was never awaited")
"""What Python prints below the traceback."""
_WAITING = frozenset(
    (
        "run", "gather", "create_task", "ensure_future", "wait", "wait_for", "as_completed", "run_until_complete", "shield", "timeout",
        "run_coroutine_threadsafe", "start_soon", "spawn", "iscoroutine", "isawaitable", "close",
    )
)  # fmt: skip
"""Functions that take a coroutine as such."""
_OF_OTHERS = frozenset(("get", "run", "read", "write", "close", "send", "open", "next", "pop", "update", "put", "call"))
"""Names of methods that many other classes have, too."""
_COLLECTING = ("append", "add", "extend", "insert", "setdefault")
MAX_FILES = 6
"""Files in which the call is looked for."""
MAX_NAMES = 20
"""Imported names of one file that are followed."""
LONG = 120
"""Characters of code that is shown; a suggestion that is longer is left out, as a part of it is no code."""


class _Call(NamedTuple):
    """A call of an async function that nothing waits for. ``parents``: by the `id` of a node, the node around it."""

    node: ast.Call
    name: str
    source: SourceFile
    parents: dict[int, ast.AST]


def explain(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the call; None where no call, or calls of several functions, can have given the coroutine."""
    if failure.type not in ("TypeError", "AttributeError", "ValueError") or not trace.own:
        return None
    if _MESSAGE.search(failure.message) is None:
        return None
    several = [one for source in trace.own_sources[:MAX_FILES] for one in _unawaited(source, trace)]
    warned = set(_WARNED.findall(failure.message))
    several = [one for one in several if one.name in warned] or several
    if len({one.name for one in several}) != 1:
        return None
    call = several[0]
    if isinstance(call.node.func, ast.Attribute) and len(several) > 1:
        return None  # only one of the calls can be the one that failed
    place = file_line(call.source.path, call.node.lineno)
    found = found or FoundPlace(trace.frames[trace.own[-1]], "", [], [], "rule")
    found.condition = say("await-lacks", lang, f=call.name, place=place)
    found.origins = [Origin(ast.unparse(call.node)[:LONG], "data", "", None, None, place=place)]
    found.remedies = [
        Remedy(key, (("x", text),), text, "rule") for key, text in _waiting(call, trace) if len(text) <= LONG
    ]
    return found


def _unawaited(source: SourceFile, trace: Trace) -> Iterator[_Call]:
    parents = {id(child): node for node in ast.walk(source.tree) for child in ast.iter_child_nodes(node)}
    own = list(functions_of(source))
    plain = {one.name for one in own if not isinstance(one.function, ast.AsyncFunctionDef) or one.is_generator}
    names = {one.name for one in own} - plain
    asked = [
        node.func.id for node in ast.walk(source.tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    others = (names_from(source) & set(asked)) - plain - names
    imported = {name for name in sorted(others)[:MAX_NAMES] if _is_async(name, source, trace)}
    modules = modules_of(source)
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).partition(".")[0] in modules:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        is_mine = isinstance(node.func, ast.Name) or name not in _OF_OTHERS
        is_async = (name in names and is_mine) or (name in imported and isinstance(node.func, ast.Name))
        if is_async and not _is_waited_for(node, source, parents):
            yield _Call(node, name, source, parents)


def _is_async(name: str, source: SourceFile, trace: Trace) -> bool:
    """Whether an imported name stands for an async function of the user's own."""
    other = definition(name, source, trace.own_sources)
    return other is not None and isinstance(other.node, ast.AsyncFunctionDef)


def _is_waited_for(node: ast.Call, source: SourceFile, parents: dict[int, ast.AST]) -> bool:
    """Whether something waits for what a call gives, or hands it on to who may."""
    function = source.around(node.lineno)[1]
    part: ast.AST = node
    while (around := parents.get(id(part))) is not None:
        if isinstance(around, ast.Await) or (isinstance(around, ast.Call) and _takes_coroutine(around)):
            return True
        if isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute) and around.func.attr in _COLLECTING:
            return _is_name_waited_for(around.func.value, function or source.tree)
        if isinstance(around, (ast.Return, ast.Lambda)):
            return isinstance(around, ast.Lambda) or (around.value is node and isinstance(function, ast.FunctionDef))
        if isinstance(around, ast.Assign):
            return any(_is_name_waited_for(one, function or source.tree) for one in around.targets)
        if isinstance(around, ast.stmt):
            return False
        part = around
    return False


def _takes_coroutine(call: ast.Call) -> bool:
    return (call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)) in _WAITING


def _is_name_waited_for(name: ast.expr, scope: ast.AST) -> bool:
    shown = ast.unparse(name)
    return any(
        ast.unparse(part) == shown
        for node in ast.walk(scope)
        if isinstance(node, ast.Await) or (isinstance(node, ast.Call) and _takes_coroutine(node))
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    )


def _waiting(call: _Call, trace: Trace) -> Iterator[tuple[str, str]]:
    """How the result is waited for in the place of the call."""
    written = ast.unparse(call.node)
    is_async = isinstance(call.source.around(call.node.lineno)[1], ast.AsyncFunctionDef)
    if not is_async and not any("asyncio/" in frame.path for frame in trace.frames):
        yield "do-await", f"asyncio.run({written})"
        return
    around = call.parents.get(id(call.node))
    if is_async and isinstance(around, (ast.ListComp, ast.GeneratorExp)) and around.elt is call.node:
        each = ast.unparse(ast.ListComp(ast.Await(call.node), around.generators))
        together = f"await asyncio.gather(*{ast.unparse(ast.GeneratorExp(call.node, around.generators))})"
        yield from (("do-await", each), ("await-together", together))
        return
    yield "do-await", f"await {written}"
