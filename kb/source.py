"""YAML with places: plain values plus the line and column of every field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kb.problem import Problem

# PyYAML built without libyaml is slower and gives the same result.
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its value and, by path of keys and indices, where each field stands (1-based)."""

    path: Path
    value: Any
    marks: dict[Place, tuple[int, int]]

    def mark(self, place: Place) -> tuple[int, int]:
        """The place of a field, or of the nearest field around it."""
        while place not in self.marks and place:
            place = place[:-1]
        return self.marks.get(place, (1, 1))

    def problem(self, place: Place, message: str, hint: str = "") -> Problem:
        return Problem(self.path, *self.mark(place), ".".join(map(str, place)), message, hint)


def read(path: Path) -> tuple[Document | None, list[Problem]]:
    """Parse one YAML file; syntax errors and duplicate keys become problems."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem(path, 1, 1, "", f"cannot be read: {error}", "expected a UTF-8 text file")]
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, [Problem(path, 1, 1, "", "is empty", "expected the fields of an entry")]
        marks: dict[Place, tuple[int, int]] = {}
        problems: list[Problem] = []
        _walk(node, (), marks, problems, path)
        return Document(path, loader.construct_document(node), marks), problems
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return None, [Problem(path, line, column, "", f"not valid YAML: {error.problem}", "quote values with : # [ {")]
    except (ValueError, yaml.YAMLError) as error:
        return None, [Problem(path, 1, 1, "", f"not valid YAML: {error}")]
    finally:
        loader.dispose()


def _walk(
    node: yaml.Node, place: Place, marks: dict[Place, tuple[int, int]], problems: list[Problem], path: Path
) -> None:
    marks[place] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            here = (key.start_mark.line + 1, key.start_mark.column + 1)
            if name in seen:
                problems.append(Problem(path, *here, name, "stands twice", "keep one of them"))
            seen.add(name)
            _walk(value, (*place, name), marks, problems, path)
            marks[(*place, name)] = here
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            _walk(value, (*place, i), marks, problems, path)
