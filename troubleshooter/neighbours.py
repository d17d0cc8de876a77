"""Finds the logs on which an entry could wrongly answer, because they contain its words: samples of other entries, and
healthy logs."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb.compiled import Body, Knowledge
from kb.compiled_conditions import own_patterns
from kb.files import contents
from kb.load import MAX_SAMPLES_BYTES
from kb.samples import FILE, EntrySample, InvalidSamples, parse

MOST = 400
"""At most this many samples of other entries are tried. If there are more, this many are drawn, always the same ones.
"""
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Neighbours:
    """The samples below folders of entries. They are read once, and only those that hold words of an entry are tried."""

    knowledge: Knowledge
    roots: Iterable[Path]
    passed_over: int = field(default=0, init=False)
    """How many samples beyond `MOST` contain words of the entries but were not tried."""

    def samples(self, wanted: set[str]) -> list[tuple[str, Path, EntrySample]]:
        """Samples of entries that are not wanted but contain the words of a wanted one, each with its entry's id and
        file."""
        asked = [way for id_ in sorted(wanted) for way in self._words(id_)]
        found = [
            (id_, path, sample)
            for id_, path in self._all()
            if id_ not in wanted and _holds(text := _text(path), asked)
            for sample in _parsed(text)
            if sample.kind == "match" and _holds(sample.text, asked)
        ]
        self.passed_over = max(0, len(found) - MOST)
        if not self.passed_over:
            return found
        return sorted(random.Random(len(found)).sample(found, MOST), key=lambda item: (item[0], item[2].line))

    def holding(self, logs: Iterable[Path], wanted: set[str]) -> list[Path]:
        """The logs that contain the words of a wanted entry."""
        asked = [way for id_ in sorted(wanted) for way in self._words(id_)]
        return [path for path in logs if _holds(_text(path), asked)]

    def _all(self) -> Iterator[tuple[str, Path]]:
        for root in sorted({root.resolve() for root in self.roots}):
            for area in _folders(root):
                yield from ((entry.name, entry / FILE) for entry in _folders(area))

    def _words(self, id_: str) -> list[list[list[str]]]:
        """For each symptom: lists of texts in lower case. A log of the symptom contains at least one text of each list."""
        found = self.knowledge.find(id_)
        if found is None:
            return []
        body, base = found
        return [self._asked(symptom["require"], base) for symptom in body["symptoms"]]

    def _asked(self, require: Iterable[Body], base: int) -> list[list[str]]:
        lists = []
        for condition in require:
            texts = self._texts(condition, base)
            if texts:
                lists.append(texts)
        return lists

    def _texts(self, condition: Any, base: int) -> list[str]:
        """Texts of which a log contains at least one if the condition holds; [] if the condition requires no text."""
        kind = condition["kind"]
        if given := own_patterns(condition):
            return [self.knowledge.literals[base + n] for p in given for n in p["literals"]]
        if kind == "message":
            return [name.lower() for name in condition["exception"]]
        if kind == "metric":
            return [] if any("*" in name for name in condition["names"]) else [n.lower() for n in condition["names"]]
        if kind == "exit":
            return []
        if kind == "any":
            parts = [self._texts(part, base) for part in condition["parts"]]
            return [text for part in parts for text in part] if all(parts) else []
        return []


def _text(path: Path) -> str:
    """A file's text; empty if it cannot be read."""
    try:
        return contents(path, limit=MAX_SAMPLES_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _parsed(text: str) -> list[EntrySample]:
    try:
        return parse(text)
    except InvalidSamples:
        return []


def _holds(text: str, asked: list[list[list[str]]]) -> bool:
    """Whether a log contains the words that one symptom needs. A line break in a message counts as a space."""
    text = text.lower()
    folded = ""
    for lists in asked:
        for texts in lists:
            if any(one in text for one in texts):
                continue
            if not any(max(one.split(), key=len, default="") in text for one in texts):
                break
            folded = folded or _SPACE.sub(" ", text)
            if not any(one in folded for one in texts):
                break
        else:
            return True
    return False


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return sorted(Path(item.path) for item in found if item.is_dir(follow_symlinks=False))
    except OSError:
        return []
