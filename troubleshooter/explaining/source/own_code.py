"""What the user's own code gives by name, anywhere in the files of a traceback: keywords of calls, entries of dictionaries,
attributes that it sets.

A traceback shows one line of a file, and the value at fault is often given on another one. The file is read where it is here
(`sources`); else the lines that a notebook shows around its frames are taken.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from troubleshooter.explaining.remedy import literal
from troubleshooter.explaining.source.calls import NOT_PASSED, calls_at, passed
from troubleshooter.explaining.source.declared_options import declared_by
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.file_names import MAX_VALUE, FileNames
from troubleshooter.explaining.source.mappings import named_entries
from troubleshooter.explaining.source.names import parameters, position_of, signature
from troubleshooter.explaining.source.shown import calls, code, parsed
from troubleshooter.explaining.source.sources import Sources
from troubleshooter.observe.model import Frame

MAX_CALLS = 4
"""Calls of the user's own functions that are followed for one value."""


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
        return file_line(self.file, self.line)


class OwnCode:
    """The user's own frames of a traceback. ``own``: their numbers."""

    def __init__(self, frames: Sequence[Frame], sources: Sources, own: Sequence[int]) -> None:
        self._frames = frames
        self._sources = sources
        self._own = own
        self._names: dict[str, FileNames] = {}

    @cached_property
    def calls(self) -> list[ast.Call]:
        """The calls in the user's own lines, the innermost line first; with all lines of a statement where its file is here.

        A name stands for the value that the file gives it once, and ``**name`` for the entries of its dictionary.
        """
        found: list[ast.Call] = []
        for at in reversed(self._own):
            tree = self.tree(at)
            whole = calls_at(tree, self._frames[at].line) if tree is not None else []
            found += [self.filled(call, at) for call in whole] or calls(code(self._frames[at]))
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
                out += [
                    one._replace(value=self.written(one.value, at))
                    for one in _given(tree, path, self._sources.options.texts)
                ]
            else:
                out += _around(self._frames[at])
        return out

    def one(self, name: str, holder: str = "") -> Given | None:
        """What the user's code gives of a name, if that is one value; where several are given, what ``holder`` gets."""
        return next(iter(self._same(name, holder)), None)

    def made(self, name: str, holder: str, position: int | None = None) -> Given | None:
        """What the user's code gives the maker of an object of a class, on a line that the traceback does not show."""
        found = [one for one in self.given if one.name == name and one.holder.rpartition(".")[2] == holder]
        found = found or [*self._in_order(name, holder, position)]
        return found[0] if found and len({one.text for one in found}) == 1 else None

    def _in_order(self, name: str, holder: str, position: int | None) -> Iterator[Given]:
        for path, at in {self._frames[at].path: at for at in self._own}.items():
            tree = self.tree(at) if position is not None else None
            for node in ast.walk(tree) if tree is not None else ():
                is_its = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == holder
                if not is_its or not isinstance(node, ast.Call) or position is None or len(node.args) <= position:
                    continue
                value = node.args[position]
                if not any(isinstance(one, ast.Starred) for one in node.args):
                    yield Given(name, self.written(value, at), value.lineno, path, holder)

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
        """The literal that an expression in a frame stands for, where the file gives it one value; else the expression itself.

        A parameter of the user's own function stands for what their own call one frame further out passes.
        """
        found: ast.expr | None = value
        for _ in range(MAX_CALLS):
            if found is None:
                break
            if (known := self._names_of(at).value(found)) is not None:
                return known
            found, at = self._passed(found, at), at - 1
        return value

    def entries(self, value: ast.expr, at: int) -> list[tuple[str, ast.expr, str]]:
        """The entries of a dictionary that an expression in a frame stands for, with the name of the dictionary, "" for one without."""
        found: ast.expr | None = value
        for _ in range(MAX_CALLS):
            if found is None:
                break
            if several := self._names_of(at).all_entries(found):
                holder = ast.unparse(found) if isinstance(found, ast.Name) else ""
                return [(name, self.written(one, at), holder) for name, one in several]
            found, at = self._passed(found, at), at - 1
        return []

    def making(self, value: ast.expr, at: int) -> ast.Call | None:
        """The call that made the value of an expression in a frame, where the file gives it one."""
        made = self._names_of(at).bound.get(value.id) if isinstance(value, ast.Name) else value
        return made if isinstance(made, ast.Call) else None

    def run_place(self, value: ast.expr) -> str:
        """The place of the command line or of a configuration that a value, as `written` gave it, comes from."""
        return next((place for names in self._names.values() if (place := names.place(value))), "")

    def filled(self, call: ast.Call, at: int) -> ast.Call:
        """A call with what its names stand for, and with all that a dictionary or ``functools.partial`` adds."""
        names = self._names_of(at)
        call = names.partial(call)
        keywords: list[ast.keyword] = []
        for keyword in call.keywords:
            entries = names.entries(keyword.value) if keyword.arg is None else []
            if entries:
                keywords += [ast.keyword(name, self.written(value, at)) for name, value in entries]
            else:
                keywords.append(ast.keyword(keyword.arg, self.written(keyword.value, at)))
        return ast.copy_location(ast.Call(call.func, [self.written(one, at) for one in call.args], keywords), call)

    def _names_of(self, at: int) -> FileNames:
        path = self._frames[at].path
        if path not in self._names:
            tree = self.tree(at)
            self._names[path] = FileNames(tree if tree is not None else ast.Module([], []), self._sources.options)
        return self._names[path]

    def _passed(self, value: ast.expr, at: int) -> ast.expr | None:
        """What the frame above passes for a parameter, or for what an attribute or an item of it is read from, if both are the user's own;
        else the default."""
        if isinstance(value, (ast.Attribute, ast.Subscript)) and isinstance(value.value, ast.Name):
            whole = self._passed(value.value, at)
            if whole is None:
                return None
            if isinstance(value, ast.Attribute):
                return ast.Attribute(whole, value.attr, ast.Load())
            return ast.Subscript(whole, value.slice, ast.Load())
        source = self._sources.of(self._frames[at]) if isinstance(value, ast.Name) and at in self._own else None
        function = source.around(self._frames[at].line)[1] if source is not None else None
        if not isinstance(value, ast.Name) or function is None or value.id not in parameters(function):
            return None
        owner = source.around(self._frames[at].line)[0] if source is not None else None
        name = owner.name if owner is not None and function.name == "__init__" else function.name
        tree = self.tree(at - 1) if at - 1 in self._own else None
        named = (
            [call for call in calls_at(tree, self._frames[at - 1].line) if _calls(call, name)]
            if tree is not None
            else []
        )
        if len(named) != 1:
            return None
        found = passed(
            named[0], value.id, position_of(function, value.id, method=parameters(function)[0] in ("self", "cls"))
        )
        if isinstance(found, ast.expr):
            return found
        default = signature(function, value.id)[0]
        is_left_out = found is NOT_PASSED and default is not None
        return ast.parse(default, mode="eval").body if is_left_out and default is not None else None


def _calls(call: ast.Call, name: str) -> bool:
    return (call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)) == name


def _given(tree: ast.Module, path: str, told: Container[str] = ()) -> Iterator[Given]:
    """``told``: options that the command line gives, so that their default does not count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            holder = ast.unparse(node.func)[:MAX_VALUE]
            if (option := declared_by(node)) is not None:
                if option.default is not None and option.name not in told:
                    yield Given(option.name, option.default, option.default.lineno, path, "")
                continue
            for keyword in node.keywords:
                if keyword.arg is not None:
                    yield Given(keyword.arg, keyword.value, keyword.value.lineno, path, holder)
        elif isinstance(node, ast.Dict):
            for name, value, line in named_entries(node):
                yield Given(name, value, line, path, "")
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, (ast.Attribute, ast.Subscript)):
            changed = ast.BinOp(node.target, node.op, node.value)
            name = (
                node.target.attr if isinstance(node.target, ast.Attribute) else literal(ast.unparse(node.target.slice))
            )
            if isinstance(name, str):
                yield Given(name, changed, node.lineno, path, ast.unparse(node.target.value))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield Given(target.attr, node.value, node.lineno, path, ast.unparse(target.value))
                elif isinstance(target, ast.Subscript) and isinstance(key := literal(ast.unparse(target.slice)), str):
                    yield Given(key, node.value, node.lineno, path, ast.unparse(target.value))


def _around(frame: Frame) -> Iterator[Given]:
    """What the log shows of a frame's line, and of the lines that a notebook prints around it, each by itself."""
    start = frame.line - len(frame.above)
    lines = [*enumerate(frame.above, start), (frame.line, code(frame)), *enumerate(frame.below, frame.line + 1)]
    for number, line in lines:
        tree = parsed(line)
        for one in _given(tree, frame.path) if tree is not None else ():
            yield one._replace(line=number)
