"""Two files of the user's own that import each other: which lines do, and which import may wait until a function runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure, Frame

_MESSAGES = (
    lazy.compile(
        r"^cannot import name '(?P<name>\w{1,80})' from partially initialized module '(?P<module>[\w.]{1,120})'"
    ),
    lazy.compile(r"^partially initialized module '(?P<module>[\w.]{1,120})' has no attribute '(?P<name>\w{1,80})'"),
)

_THIRD = "from common import {}"
"""The import from a third file, as it is suggested."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with both lines; None where one of the files is not the user's own, or a file asks itself."""
    said = next((one for pattern in _MESSAGES if (one := pattern.match(failure.message)) is not None), None)
    frames, last = trace.frames, len(trace.frames) - 1
    if said is None or failure.type not in ("ImportError", "AttributeError"):
        return None
    begin = next((n for n, frame in enumerate(frames[:last]) if _is_of(frame, said["module"])), None)
    if begin is None or frames[begin].path == frames[last].path:
        return None
    if not all(is_own(frame) or "<frozen " in frame.path for frame in frames[begin:]):
        return None
    name, module = said["name"], said["module"]
    found.condition = say("circle", lang, x=name, m=module, begin=_place(frames[begin]), end=_place(frames[last]))
    found.origins = [Origin(name, "data", "", None, None, place=_place(frames[last]))]
    moved = ", ".join(_constants(trace.context(begin))) if not name.isupper() else name
    text = _THIRD.format(moved or name)
    found.remedies = [Remedy("circle-third", (("x", text), ("y", moved or name)), text, "rule")]
    for at in (last, begin):
        context = trace.context(at)
        for statement in _late(context) if context is not None else ():
            shown = ast.unparse(statement)
            values = (("x", shown), ("y", _place(frames[at])))
            found.remedies.append(Remedy("circle-late", values, shown, "rule"))
    return found


def _is_of(frame: Frame, module: str) -> bool:
    """Whether a frame runs the file of a module."""
    path = PurePath(frame.path).with_suffix("")
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    return parts[-len(module.split(".")) :] == tuple(module.split("."))


def _place(frame: Frame) -> str:
    return file_line(frame.path, frame.line)


def _constants(context: NameContext | None) -> list[str]:
    """What a line imports by name, if all of it are constants: these are moved more easily than functions."""
    body = context.source.tree.body if context is not None else []
    names = [
        alias.name
        for one in body
        if isinstance(one, ast.ImportFrom) and context is not None and one.lineno == context.line
        for alias in one.names
    ]
    return names if all(one.isupper() for one in names) else []


def _late(context: NameContext) -> Iterator[ast.stmt]:
    """The import at a line, if only functions of its file use what it gives."""
    for statement in context.source.tree.body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) or statement.lineno != context.line:
            continue
        names = {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
        if "*" not in names and not names & set(_read_at_once(context.source.tree)):
            yield statement


def _read_at_once(tree: ast.Module) -> Iterator[str]:
    """The names that a file reads when it is imported: all but those in the bodies of its functions."""
    level: list[ast.AST] = [tree]
    while level:
        inner: list[ast.AST] = []
        for node in level:
            if isinstance(node, ast.Name):
                yield node.id
            body: list[ast.stmt] | list[ast.expr] = []
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body
            elif isinstance(node, ast.Lambda):
                body = [node.body]
            bodies = {id(one) for one in body}
            inner += [child for child in ast.iter_child_nodes(node) if id(child) not in bodies]
        level = inner
