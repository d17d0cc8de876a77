"""What a file of the run imports by name from another file of the run that the traceback names, too: the class or the function."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from typing import NamedTuple

from troubleshooter.explaining.source.names import NameContext, binds
from troubleshooter.explaining.source.sources import Function, SourceFile

Definition = ast.ClassDef | Function


class OwnDefinition(NamedTuple):
    """A class or a function on the level of a module of the user's own."""

    node: Definition
    source: SourceFile


def definition(name: str, source: SourceFile, files: Sequence[SourceFile]) -> OwnDefinition | None:
    """The class or function that a name stands for in a file, if it is the user's own; None where the name has another value, too.

    ``files``: those of the user's own that the traceback names; no other file is read.
    """
    found = _here(name, source)
    if found is not None:
        return OwnDefinition(found, source)
    imports = [node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom) and node.module]
    several = [(one, alias.name) for one in imports for alias in one.names if name == (alias.asname or alias.name)]
    if len(several) != 1 or _is_given(name, source):
        return None
    [(statement, original)] = several
    other = _imported(statement, source, files)
    node = _here(original, other) if other is not None else None
    return OwnDefinition(node, other) if node is not None and other is not None else None


def definition_at(name: str, context: NameContext, files: Sequence[SourceFile]) -> OwnDefinition | None:
    """The same for a name as it is read in a line; None where the function of the line gives it a value of its own."""
    if context.function is not None and binds(context.function, name):
        return None
    return definition(name, context.source, files)


def modules_of(*sources: SourceFile) -> set[str]:
    """The names that stand for imported modules in files."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }


def names_from(source: SourceFile) -> set[str]:
    """The names that a file takes from other modules."""
    imports = [node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def _here(name: str, source: SourceFile) -> Definition | None:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    several = [node for node in source.tree.body if isinstance(node, kinds) and node.name == name]
    return several[0] if len(several) == 1 and not _is_given(name, source) else None


def _imported(statement: ast.ImportFrom, source: SourceFile, files: Sequence[SourceFile]) -> SourceFile | None:
    """The file that an import means: of the folder of the file that imports, or by the name of that folder."""
    module = statement.module or ""
    folder = os.path.dirname(source.path)
    first, _, rest = module.partition(".")
    inside = [rest] if rest and not statement.level and os.path.basename(folder) == first else []
    paths = [f"{folder}/{one.replace('.', '/')}.py" for one in (*inside, module)]
    return next((one for path in paths for one in files if one.path == path), None) if statement.level < 2 else None


def _is_given(name: str, source: SourceFile) -> bool:
    """Whether a file gives a name a value by an assignment, a loop or the like."""
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(source.tree)
    )
