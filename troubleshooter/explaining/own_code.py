"""What the user's own code gives by name, anywhere in the files of a traceback: keywords of calls, entries of dictionaries,
attributes that it sets.

A traceback shows one line of a file, and the value at fault is often given on another one. The file is read where it is here
(`sources`); else the lines that a notebook shows around its frames are taken.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import NamedTuple

from troubleshooter.explaining.calls import calls_at
from troubleshooter.explaining.mappings import named_entries
from troubleshooter.explaining.remedy import UNKNOWN, literal
from troubleshooter.explaining.shown import calls, code, parsed
from troubleshooter.explaining.sources import Sources
from troubleshooter.observe.model import Frame

MAX_VALUE = 300
"""Characters of a value that stands for a name."""


class Given(NamedTuple):
    """A value that the user's code gives by name. ``holder``: the function, dictionary or object that it is given to."""

    name: str
    value: ast.expr
    line: int
    file: str
    holder: str

    @property
    def text(self) -> str:
        return ast.unparse(self.value)

    @property
    def place(self) -> str:
        """The line as it is named to the user."""
        return f"{PurePath(self.file).name}:{self.line}"


class OwnCode:
    """The user's own frames of a traceback. ``own``: their numbers."""

    def __init__(self, frames: Sequence[Frame], sources: Sources, own: Sequence[int]) -> None:
        self._frames = frames
        self._sources = sources
        self._own = own
        self._constants: dict[str, dict[str, ast.expr]] = {}

    @cached_property
    def calls(self) -> list[ast.Call]:
        """The calls in the user's own lines, the innermost line first; with all lines of a statement where its file is here.

        A name stands for the value that the file gives it once, and ``**name`` for the entries of its dictionary.
        """
        found: list[ast.Call] = []
        for at in reversed(self._own):
            tree = self.tree(at)
            whole = calls_at(tree, self._frames[at].line) if tree is not None else []
            found += [self._filled(call, at) for call in whole] or calls(code(self._frames[at]))
        return found

    @cached_property
    def given(self) -> list[Given]:
        """All that the user's files give by name, in the order of their lines."""
        out: list[Given] = []
        seen: set[str] = set()
        for at in self._own:
            path = self._frames[at].path
            if path in seen:
                continue
            tree = self.tree(at)
            if tree is not None:
                seen.add(path)
                out += [one._replace(value=self.written(one.value, at)) for one in _given(tree, path)]
            else:
                out += _around(self._frames[at])
        return out

    def one(self, name: str, holder: str = "") -> Given | None:
        """What the user's code gives of a name, if that is one value; where several are given, what ``holder`` gets."""
        return next(iter(self._same(name, holder)), None)

    def made(self, name: str, holder: str) -> Given | None:
        """What the user's code gives the maker of an object of a class, on a line that the traceback does not show."""
        found = [one for one in self.given if one.name == name and one.holder.rpartition(".")[2] == holder]
        return found[0] if found and len({one.text for one in found}) == 1 else None

    def is_of_file(self, given: Given) -> bool:
        """Whether the whole file that gives a value was read, not only the lines that the log shows of it."""
        return any(self._frames[at].path == given.file and self.tree(at) is not None for at in self._own)

    def is_in_line(self, given: Given) -> bool:
        """Whether the traceback shows the line of a value: it stands in a call of one of the user's frames."""
        for at in self._own:
            frame = self._frames[at]
            if frame.path != given.file:
                continue
            tree = self.tree(at)
            here = calls_at(tree, frame.line) if tree is not None else []
            if frame.line == given.line or any(one.lineno <= given.line <= (one.end_lineno or 0) for one in here):
                return True
        return False

    def _same(self, name: str, holder: str) -> list[Given]:
        found = [one for one in self.given if one.name == name]
        mine = [one for one in found if holder and one.holder.rpartition(".")[2] == holder]
        for some in (mine, found):
            if some and len({one.text for one in some}) == 1:
                return some
        return []

    def tree(self, at: int) -> ast.Module | None:
        """The file of a frame; None where it is not here."""
        source = self._sources.of(self._frames[at])
        return source.tree if source is not None else None

    def written(self, value: ast.expr, at: int) -> ast.expr:
        """The literal that a name of the file of a frame stands for, where the file gives it one value; else the expression itself."""
        if not isinstance(value, ast.Name):
            return value
        found = self._named(at).get(value.id)
        text = ast.unparse(found) if found is not None else ""
        return found if found is not None and len(text) <= MAX_VALUE and literal(text) is not UNKNOWN else value

    def _named(self, at: int) -> dict[str, ast.expr]:
        path = self._frames[at].path
        if path not in self._constants:
            tree = self.tree(at)
            self._constants[path] = _bound_once(tree) if tree is not None else {}
        return self._constants[path]

    def _filled(self, call: ast.Call, at: int) -> ast.Call:
        keywords: list[ast.keyword] = []
        for keyword in call.keywords:
            inner = self._named(at).get(keyword.value.id) if isinstance(keyword.value, ast.Name) else keyword.value
            entries = list(named_entries(inner)) if keyword.arg is None and inner is not None else []
            if entries:
                keywords += [ast.keyword(name, self.written(value, at)) for name, value, _ in entries]
            else:
                keywords.append(ast.keyword(keyword.arg, self.written(keyword.value, at)))
        return ast.copy_location(ast.Call(call.func, [self.written(one, at) for one in call.args], keywords), call)


def _given(tree: ast.Module, path: str) -> Iterator[Given]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            holder = ast.unparse(node.func)[:MAX_VALUE]
            for keyword in node.keywords:
                if keyword.arg is not None:
                    yield Given(keyword.arg, keyword.value, keyword.value.lineno, path, holder)
        elif isinstance(node, ast.Dict):
            for name, value, line in named_entries(node):
                yield Given(name, value, line, path, "")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield Given(target.attr, node.value, node.lineno, path, ast.unparse(target.value))
                elif isinstance(target, ast.Subscript) and isinstance(key := literal(ast.unparse(target.slice)), str):
                    yield Given(key, node.value, node.lineno, path, ast.unparse(target.value))


def _bound_once(tree: ast.Module) -> dict[str, ast.expr]:
    """The names that a file gives one value and never another one, with what it gives them: literals and dictionaries."""
    values: dict[str, ast.expr] = {}
    times: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            times[node.id] = times.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            times[node.arg] = times.get(node.arg, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            values[node.target.id] = node.value
    changed = _changed(tree)
    return {name: value for name, value in values.items() if times.get(name) == 1 and name not in changed}


def _changed(tree: ast.Module) -> set[str]:
    """The names whose objects a file changes in place: ``x[0] = …``, ``x.append(…)``."""
    found = set()
    for node in ast.walk(tree):
        is_item = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        is_method = isinstance(node, ast.Attribute) and node.attr in _CHANGES
        if (is_item or is_method) and isinstance(node.value, ast.Name):  # type: ignore[attr-defined]
            found.add(node.value.id)  # type: ignore[attr-defined]
    return found


_CHANGES = frozenset(("append", "extend", "insert", "update", "pop", "remove", "clear", "setdefault", "add", "popitem"))


def _around(frame: Frame) -> Iterator[Given]:
    """What the log shows of a frame's line, and of the lines that a notebook prints around it, each by itself."""
    start = frame.line - len(frame.above)
    lines = [*enumerate(frame.above, start), (frame.line, code(frame)), *enumerate(frame.below, frame.line + 1)]
    for number, line in lines:
        tree = parsed(line)
        for one in _given(tree, frame.path) if tree is not None else ():
            yield one._replace(line=number)
