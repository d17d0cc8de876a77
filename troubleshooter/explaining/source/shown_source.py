"""The source that a traceback itself shows around a line, where the file is not here: a notebook prints the lines above it.

What is shown becomes a small file with one function, so that the code that follows conditions in a file follows them here. Where
only the ``raise`` is shown, it still says which values stand in its message.
"""

from __future__ import annotations

import ast
import re
import textwrap

from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.shown import code, parsed
from troubleshooter.explaining.source.sources import SourceFile
from troubleshooter.observe.model import Frame
from troubleshooter.paths import below_packages

_INDENT = "    "


def shown_context(frame: Frame, at: int) -> NameContext | None:
    """The place of a frame in what the log shows of its function; None where that holds no ``raise`` or ``assert``."""
    for lines, number in _versions(frame):
        text = f"def {_name(frame)}():\n" + "\n".join(f"{_INDENT}{line}" for line in lines)
        source = SourceFile(frame.path, below_packages(frame.path), text)
        line = number + 1
        if any(place.line <= line <= place.end_line for place in source.places_at(line)):
            owner, function = source.around(line)
            return NameContext(source, owner, function, line, at)
    return None


def _versions(frame: Frame) -> list[tuple[list[str], int]]:
    """Lines that may parse, and the number of the frame's line in them: all that is shown, less and less from above, the line alone."""
    if not re.search(r"\b(?:raise|assert)\b", code(frame)):
        return []
    found: list[tuple[list[str], int]] = []
    above, below = list(frame.above), list(frame.below)
    for start in range(len(above)):
        kept = [re.sub(r"^(\s*)elif\b", r"\1if", above[start], count=1), *above[start + 1 :]]
        for end in range(len(below), -1, -1):
            lines = textwrap.dedent("\n".join([*kept, frame.shown[0], *below[:end]])).split("\n")
            if _parses(lines):
                found.append((lines, len(kept) + 1))
                break
    tree = parsed(code(frame))
    if tree is not None and len(tree.body) == 1:
        body = tree.body[0]
        inner = body.body[0] if isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef)) and body.name == "_" else body
        found.append((ast.unparse(inner).split("\n"), 1))
    return found


def _parses(lines: list[str]) -> bool:
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _name(frame: Frame) -> str:
    name = frame.function.rpartition(".")[2]
    return name if name.isidentifier() else "shown"
