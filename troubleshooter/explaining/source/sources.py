"""The source files that a traceback names, where they exist on this machine or in the environment that the user named.

They are read as text. Nothing is imported or run. Read are Python files of installed packages and of the run itself, at most
`MAX_FILE_BYTES` each and `MAX_FILES` for one explanation, and only where the file holds the very line that the log shows:
a log is untrusted, and another release of the file would explain another failure.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property

from kb.index.place import MessagePlace
from troubleshooter.explaining.source.run_options import RunOptions
from troubleshooter.observe.model import Frame
from troubleshooter.paths import below_packages

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 40

Function = ast.FunctionDef | ast.AsyncFunctionDef


class SourceFile:
    """One file: its text and what is derived from it."""

    def __init__(self, path: str, below: str, text: str) -> None:
        self.path = path
        self.below = below
        """The path below site-packages; "" for a file of the run itself."""
        self.lines = text.splitlines()
        self.text = text
        self._places: dict[int, list[MessagePlace]] = {}

    @property
    def package(self) -> str:
        return self.below.partition("/")[0].removesuffix(".py")

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file; empty where this Python cannot parse it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    def places_at(self, line: int) -> list[MessagePlace]:
        """The places of the functions that hold a line; the whole file would take a tenth of a second."""
        if line not in self._places:
            from kb.index.places import places  # reading a file takes more than the other ways to explain

            self._places[line] = places(self.text, self.below or self.path, at=line, tree=self.tree)
        return self._places[line]

    def around(self, line: int) -> tuple[ast.ClassDef | None, Function | None]:
        """The innermost function that holds a line, and the innermost class around that function."""
        owner: ast.ClassDef | None = None
        function: Function | None = None
        for node in holding(self.tree, line):
            if isinstance(node, ast.ClassDef):
                owner = node
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                function = node
        return owner, function

    def class_named(self, name: str) -> ast.ClassDef | None:
        """A class on the level of the module."""
        return next((node for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name == name), None)


def holding(tree: ast.AST, line: int) -> Iterator[ast.stmt]:
    """The statements that hold a line, the outermost first. Only these are entered, without recursion: a chain of ``elif`` may be long."""
    level: list[ast.AST] = [tree]
    while level:
        inner: list[ast.AST] = []
        for child in (child for node in level for child in ast.iter_child_nodes(node)):
            if isinstance(child, ast.stmt):
                if child.lineno <= line <= (child.end_lineno or child.lineno):
                    yield child
                    inner.append(child)
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                inner.append(child)
        level = inner


class Sources:
    """The files of one environment. ``folders``: where its packages are installed, as its ``sys.path`` has them.

    ``options``: what the run's own command gives by name.
    """

    def __init__(self, folders: Sequence[str] = (), options: RunOptions | None = None) -> None:
        self.options = options if options is not None else RunOptions(())
        self.folders = [folder for folder in folders if os.path.isabs(folder)]
        self._read: dict[str, SourceFile | None] = {}
        self._left = MAX_FILES

    def of(self, frame: Frame) -> SourceFile | None:
        """The file of a frame, if it is here and holds the line that the log shows; a frame without code is not trusted."""
        below = below_packages(frame.path)
        if not frame.line or not frame.shown:
            return None
        for path in [frame.path, *([f"{folder}/{below}" for folder in self.folders] if below else [])]:
            source = self._file(path, below)
            if source is not None and self._shows(source, frame):
                return source
        return None

    def near(self, source: SourceFile, module: str) -> SourceFile | None:
        """A module of the same package, by its dotted name ("trl.trainer.base_config") as that package imports it."""
        if not source.below:
            return None
        root = source.path[: -len(source.below)]
        below = module.replace(".", "/")
        for ending in (".py", "/__init__.py"):
            found = self._file(f"{root}{below}{ending}", below + ending)
            if found is not None:
                return found
        return None

    def _shows(self, source: SourceFile, frame: Frame) -> bool:
        if frame.line > len(source.lines):
            return False
        shown, there = frame.shown[0].strip(), source.lines[frame.line - 1].strip()
        return bool(shown) and (shown == there or (len(shown) > 60 and there.startswith(shown)))

    def _file(self, path: str, below: str) -> SourceFile | None:
        if path not in self._read:
            found = _read(path, below) if self._left > 0 else None
            self._left -= found is not None  # a folder of the environment that lacks the file costs little
            self._read[path] = found
        return self._read[path]


def _read(path: str, below: str) -> SourceFile | None:
    if not path.endswith(".py") or ".." in path.split("/") or path.startswith("//") or not os.path.isabs(path):
        return None
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_FILE_BYTES:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return SourceFile(path, below, file.read(MAX_FILE_BYTES))
    except (OSError, ValueError):
        return None
