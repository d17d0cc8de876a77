"""The lines of the log that are evidence for a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator

from troubleshooter.ranked import Ranked
from troubleshooter.read.line import Line
from troubleshooter.read.notebook import CELL
from troubleshooter.read.text import plain
from troubleshooter.report.fill import safe
from troubleshooter.report.model import EvidenceLine
from troubleshooter.report.telling import telling

MAX_LINE_CHARACTERS = 400
"""A longer line is cut."""


def evidence_lines(item: Ranked, names: list[str], *, brief: bool) -> list[EvidenceLine]:
    """The lines that show the symptom and its versions, each once. ``names``: the inputs' names by file number; ``brief``:
    leave out the further lines of a message."""
    found: list[EvidenceLine] = []
    for shown in (*item.candidate.evidence, *item.version_evidence):
        line = _shown(shown.line, shown.text, shown.why, names)
        if not any(e.line == line.line and e.file == line.file and e.text == line.text for e in found):
            found.append(line)
    if brief:
        return found
    return [line for shown in found for line in (shown, *_message_below(shown, item, names))]


def file_name(names: list[str], file: int) -> str:
    """The name of an input; "" for a number without one."""
    return names[file] if file < len(names) else ""


def _message_below(shown: EvidenceLine, item: Ranked, names: list[str]) -> Iterator[EvidenceLine]:
    """If the line is the first one of the exception's message: the telling lines of the message below it."""
    anchor = item.candidate.trial.anchor
    failure = anchor.failure if anchor is not None else None
    if failure is None or (failure.line.number, file_name(names, failure.line.file)) != (shown.line, shown.file):
        return
    for line in telling(failure, item.candidate):
        yield _shown(line, line.text, "the message goes on", names)


def _shown(line: Line, text: str, why: str, names: list[str]) -> EvidenceLine:
    # A line is found by its number, but in a notebook by its cell, and what was read in an environment is in no input.
    where = "" if line.number and not line.stream.startswith(CELL) else line.stream or "installed"
    return EvidenceLine(line.number, safe(plain(text), MAX_LINE_CHARACTERS), why, file_name(names, line.file), where)
