"""The outputs of a notebook's cells, as lines. Of a cut or damaged notebook, everything before the damage is read.

A notebook is JSON. Its tokens are followed one by one, so a notebook may be printed on one line or on many, and may break off
anywhere. Each line keeps the raw line of the file on which its text begins.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, NamedTuple, get_args

from kb import lazy
from troubleshooter.read.line import Line
from troubleshooter.read.split import split_line

LARGEST_BYTES = 64 * 1024 * 1024
"""At most this many bytes of a notebook are read."""

_TOKEN = lazy.compile(
    r'"(?P<text>[^"\\]*(?:\\.[^"\\]*)*)(?P<end>"?)|(?P<number>-?\d[\d.eE+-]*)|[\[\]{}:,\n]', 16
)  # DOTALL

CELL = "cell ["
"""How the stream of a notebook's lines begins: ``cell [3]`` for the cell that was executed third, ``cell [#3]`` for the third
cell where the notebook does not number it."""
Kind = Literal["text", "traceback", "ename", "evalue"]


class Printed(NamedTuple):
    """A text in an output: its raw line in the file, the cell as the notebook numbers it, and which output it is part of."""

    text: str
    number: int
    cell: str
    output: int
    kind: Kind


class Notebook:
    """What is known about a notebook after its `lines` were read."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.bytes = 0
        self.complete = True
        """False if the notebook is larger than `LARGEST_BYTES`."""
        self.damaged = ""
        """What is wrong with the notebook; "" if nothing is."""

    def lines(self, file: int) -> Iterator[Line]:
        """The printed lines, in the order of the cells. The stream of a line is its cell."""
        for text, number, cell in _joined(self._printed()):
            for part in text.split("\n"):
                yield from split_line(part.encode("utf-8", "replace"), number, file, cell)

    def _printed(self) -> Iterator[Printed]:
        held = []
        for chunk in self._chunks:
            held.append(chunk)
            self.bytes += len(chunk)
            if self.bytes > LARGEST_BYTES:
                self.complete = False
                break
        text = b"".join(held).decode("utf-8", "replace")
        reader = _Reader()
        yield from reader.read(text)
        if not self.complete:
            return
        if reader.stack or reader.cut:
            self.damaged = "it ends in the middle of the notebook"
        elif "cells" not in reader.keys and "worksheets" not in reader.keys:
            self.damaged = "it holds no cells"


class _Reader:
    """Follows the tokens of one notebook."""

    def __init__(self) -> None:
        self.stack: list[str | None] = []
        """The position of the token: the key for each open object (None before the first key), "[]" for each open list."""
        self.keys: set[str] = set()
        """The keys of the outermost object."""
        self.cut = False
        """True if the notebook breaks off inside a text."""

    def read(self, text: str) -> Iterator[Printed]:
        """The texts that cells printed. Anything that is not JSON is skipped."""
        number, cell, count, output = 1, 0, "", 0
        stack = self.stack
        value = False  # True if the next token is a value of an object
        for token in _TOKEN.finditer(text):
            mark = token[0]
            if mark == "\n":
                number += 1
            elif mark in ("{", "["):
                if mark == "{" and _in_cells(stack):
                    cell, count = cell + 1, ""
                elif mark == "{" and stack[-2:] == ["outputs", "[]"]:
                    output += 1
                stack.append(None if mark == "{" else "[]")
                value = mark == "["
            elif mark in ("}", "]"):
                if stack:
                    stack.pop()
                value = False
            elif mark in (":", ","):
                value = mark == ":" or (bool(stack) and stack[-1] == "[]")
            elif token["number"] is not None:
                if stack and stack[-1] == "execution_count" and len(stack) <= 4 and not count:
                    count = token["number"]
            elif not value and stack and stack[-1] != "[]":
                stack[-1] = token["text"]
                if len(stack) == 1:
                    self.keys.add(token["text"])
            else:
                self.cut = self.cut or not token["end"]
                if (kind := _kind(stack)) is not None:
                    yield Printed(_decoded(token["text"]), number, f"{CELL}{count or f'#{cell}'}]", output, kind)


def _in_cells(stack: list[str | None]) -> bool:
    """Whether an object that begins here is a cell."""
    return len(stack) >= 2 and stack[-1] == "[]" and stack[-2] == "cells" and "outputs" not in stack


def _kind(stack: list[str | None]) -> Kind | None:
    """What a text at this position of an output is; None if it was not printed."""
    if "outputs" not in stack or "metadata" in stack:
        return None
    keys = [key for key in stack[stack.index("outputs") + 1 :] if key != "[]"]
    if keys in (["text"], ["data", "text/plain"]):
        return "text"
    return next((kind for kind in get_args(Kind) if keys == [kind]), None)


def _decoded(text: str) -> str:
    """The decoded text of a JSON string; of a string that is cut, the part before the cut."""
    for end in (len(text), len(text) - 1, text.rfind("\\")):
        try:
            said = json.loads(f'"{text[:end]}"', strict=False)
        except ValueError:
            continue
        return said if isinstance(said, str) else ""
    return text


def _joined(printed: Iterable[Printed]) -> Iterator[tuple[str, int, str]]:
    """The texts with those that belong on one line put together, each with its raw line and its cell. An exception's name and
    words are told only where the output holds no traceback."""
    for _, parts in groupby(printed, key=lambda one: one.output):
        output = list(parts)
        told = {one.kind: one.text for one in output}
        held, number = "", 0
        for one in output:
            if one.kind == "traceback":
                yield one.text, one.number, one.cell
            elif one.kind == "text":
                number = number if held else one.number
                held += one.text
                if held.endswith("\n"):
                    yield held[:-1], number, one.cell
                    held = ""
            elif one.kind == "evalue" and "traceback" not in told:
                yield f"{told.get('ename', 'Exception')}: {one.text}", one.number, one.cell
        if held:
            yield held, number, output[-1].cell
