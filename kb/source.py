"""Files of entries as plain data: YAML values with the line and column of every field, and rows of tables.

Somebody else may have written these files. So only regular files inside of the folder of entries are read, their size,
depth and number of values are bounded, and YAML has neither aliases nor tags: a few lines with them stand for millions
of values. The values are built from the parser's events without recursion.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from kb.clean import UNSAFE, clean
from kb.files import MAX_FILE_BYTES, Refused, contents
from kb.problem import Problem

# PyYAML built without libyaml is slower and gives the same result.
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Place = tuple[str | int, ...]

MAX_TABLE_BYTES = 32 << 20
MAX_DEPTH = 40
"""Lists and mappings may be nested this deep."""
MAX_VALUES = 200_000
"""The largest number of values in one YAML file."""

_TEXT = "tag:yaml.org,2002:str"


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its value, and the position (1-based) of each field by its path of keys and indices."""

    path: Path
    value: Any
    marks: dict[Place, tuple[int, int]]
    unsafe: dict[Place, str] = field(default_factory=dict)
    """Fields whose text held a control or bidirectional character, with the character. The value holds U+FFFD instead."""

    def mark(self, place: Place) -> tuple[int, int]:
        """The place of a field, or of the nearest field around it."""
        while place not in self.marks and place:
            place = place[:-1]
        return self.marks.get(place, (1, 1))

    def problem(self, place: Place, message: str, hint: str = "") -> Problem:
        return Problem(self.path, *self.mark(place), ".".join(map(str, place)), message, hint)


def read(path: Path, root: Path | None = None, limit: int = MAX_FILE_BYTES) -> tuple[Document | None, list[Problem]]:
    """Parse one YAML file. What cannot be read and duplicate keys become problems."""
    try:
        text = contents(path, root, limit).decode("utf-8")
    except Refused as error:
        return None, [Problem(path, 1, 1, "", str(error), "expected a UTF-8 text file")]
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem(path, 1, 1, "", f"cannot be read: {error}", "expected a UTF-8 text file")]
    builder = _Builder(path)
    try:
        loader = Loader(text)
        try:
            builder.build(loader)
        finally:
            loader.dispose()
    except _Fault as fault:
        return None, [fault.problem]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if "nesting depth" in str(error.problem):  # PyYAML 6.0.4 looks ahead, and stops before `MAX_DEPTH` is seen
            return None, [Problem(path, line, column, "", f"is nested deeper than {MAX_DEPTH}")]
        return None, [Problem(path, line, column, "", f"not valid YAML: {error.problem}", "quote values with : # [ {")]
    except (ValueError, yaml.YAMLError) as error:
        return None, [Problem(path, 1, 1, "", f"not valid YAML: {error}")]
    return builder.document, builder.problems


def rows(path: Path, root: Path | None = None) -> tuple[list[dict[str, Any]], list[Problem]]:
    """The rows of a table, ``.yaml`` (a list, or one under ``rows``) or ``.jsonl`` (a JSON object a line)."""
    if path.suffix == ".yaml":
        document, problems = read(path, root, MAX_TABLE_BYTES)
        if document is None:
            return [], problems
        found = document.value.get("rows", []) if isinstance(document.value, dict) else document.value
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            problems.append(document.problem(("rows",), "expected a list of mappings"))
            return [], problems
        return found, problems
    try:
        text = contents(path, root, MAX_TABLE_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        return [], [Problem(path, 1, 1, "", f"cannot be read: {error}", "expected a UTF-8 text file")]
    out: list[dict[str, Any]] = []
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            problems.append(Problem(path, number, error.colno, "", f"not valid JSON: {error.msg}", _OBJECT))
            continue
        except (ValueError, RecursionError):
            problems.append(Problem(path, number, 1, "", "not valid JSON: nested too deep", _OBJECT))
            continue
        if not isinstance(row, dict):
            problems.append(Problem(path, number, 1, "", f"is a {type(row).__name__}, no row", _OBJECT))
            continue
        out.append(row)
    return out, problems


_OBJECT = "expected one JSON object a line"


class _Fault(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class _Builder:
    """Values and marks of one document from the parser's events, with a stack of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document: Document | None = None
        self.problems: list[Problem] = []
        self.marks: dict[Place, tuple[int, int]] = {}
        self.unsafe: dict[Place, str] = {}
        self.open: list[tuple[Any, Place]] = []
        """Lists and mappings that are not closed yet, with their places."""
        self.keys: list[tuple[str, tuple[int, int]] | None] = []
        """For each open mapping the key that waits for its value."""
        self.count = 0
        self.root: Any = None

    def build(self, loader: Any) -> None:
        documents = 0
        while not isinstance(event := loader.get_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._fault(event, "a second document begins", "take the line --- out")
            elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                self.open.pop()
                self.keys.pop()
            elif isinstance(event, yaml.NodeEvent):
                self._node(event, loader)
        if not documents:
            raise _Fault(Problem(self.path, 1, 1, "", "is empty", "expected the fields of an entry"))
        self.document = Document(self.path, self.root, self.marks, self.unsafe)

    def _fault(self, event: Any, message: str, hint: str = "") -> _Fault:
        mark = event.start_mark
        return _Fault(Problem(self.path, mark.line + 1, mark.column + 1, "", message, hint))

    def _node(self, event: Any, loader: Any) -> None:
        if event.anchor is not None:
            raise self._fault(
                event, "aliases and anchors (*name, &name) are not read", "write the value out, or quote it"
            )
        if event.tag is not None:
            raise self._fault(event, f"tags are not read: {event.tag}", "quote the value")
        self.count += 1
        if self.count > MAX_VALUES:
            raise self._fault(event, f"has more than {MAX_VALUES:,} values")
        mark = (event.start_mark.line + 1, event.start_mark.column + 1)
        inside, place = self.open[-1] if self.open else (None, ())
        if isinstance(inside, dict) and self.keys[-1] is None:
            self._key(event, inside, place, mark)
            return
        if isinstance(inside, dict):
            name, mark = self.keys[-1] or ("", mark)
            self.keys[-1] = None
            place = (*place, name)
        elif isinstance(inside, list):
            name, place = "", (*place, len(inside))
        self.marks[place] = mark
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event, loader, place)
        else:
            if len(self.open) >= MAX_DEPTH:
                raise self._fault(event, f"is nested deeper than {MAX_DEPTH}")
            value = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            self.open.append((value, place))
            self.keys.append(None)
        if isinstance(inside, dict):
            inside[name] = value
        elif isinstance(inside, list):
            inside.append(value)
        else:
            self.root = value

    def _key(self, event: Any, inside: dict[str, Any], place: Place, mark: tuple[int, int]) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._fault(event, "a list or mapping is no key", "quote values with : # [ {")
        name = self._safe(event.value, (*place, clean(event.value)))
        if name in inside:
            self.problems.append(Problem(self.path, *mark, name, "is written twice", "keep one of them"))
        self.keys[-1] = (name, mark)

    def _scalar(self, event: Any, loader: Any, place: Place) -> Any:
        tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit) if event.implicit[0] else _TEXT
        if tag == _TEXT:
            return self._safe(event.value, place)
        node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        return loader.construct_object(node)

    def _safe(self, text: str, place: Place) -> str:
        if text.isprintable() or (found := UNSAFE.search(text)) is None:
            return text
        self.unsafe[place] = found[0]
        return clean(text)
