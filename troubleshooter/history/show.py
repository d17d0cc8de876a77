"""An answer of a history as a table, as JSON or as CSV. The rows are the same; the table leaves out what does not fit."""

from __future__ import annotations

import csv
import io
import sys
from typing import Any

from kb.text.catalog import Section
from troubleshooter.history.asking import Answer, Row
from troubleshooter.printable import printable
from troubleshooter.report.jsontext import as_json

SCHEMA_VERSION = 1
MAX_CELL_CHARACTERS = 60
say = Section("history")
COLUMNS: dict[str, tuple[str, ...]] = {
    "failures": ("runs", "share", "lost_gpu_hours", "retry", "first_seen", "last_seen", "cause", "title"),
    "new": ("first_seen", "runs", "lost_gpu_hours", "cause", "title"),
    "versions": ("package", "version", "runs", "failed", "share", "share_of_others", "probability", "significant"),
    "hosts": ("host", "runs", "failed", "share", "share_of_others", "probability", "significant", "lost_gpu_hours", "most_often"),
    "gpus": ("gpu", "runs", "failed", "share", "share_of_others", "probability", "significant", "lost_gpu_hours"),
    "upgrade": ("kind", "name", "before", "after", "jobs", "of_jobs", "first", "share_before", "share_after", "probability", "significant"),
    "fix": (
        "cause", "at", "days", "runs_before", "failed_before", "share_before", "runs_after", "failed_after", "share_after", "probability",
        "verdict",
    ),
    "unknown": ("before", "recent", "probability", "significant", "lost_gpu_hours", "cause", "title"),
    "runs": ("run", "ended", "job", "host", "cause", "lost_gpu_hours", "log", "line"),
}  # fmt: skip
"""The columns of a table, by question."""
_SHARES = frozenset(("share", "share_of_others", "share_before", "share_after"))


def show(answer: Answer, format: str, lang: str) -> None:
    """Print an answer."""
    made = {"json": as_json_text, "csv": as_csv}.get(format)
    sys.stdout.write(made(answer) if made is not None else as_table(answer, lang))


def as_json_text(answer: Answer) -> str:
    """One object: the question, the test, and the rows."""
    told = {
        "schema_version": SCHEMA_VERSION, "question": answer.question, "test": answer.test or None, "total": answer.total,
        "rows": answer.rows,
    }  # fmt: skip
    return as_json(told, indent=1) + "\n"


def as_csv(answer: Answer) -> str:
    """A line of names, and a line for each row; no value is "". A text that a spreadsheet would calculate stands behind a ``'``."""
    out = io.StringIO()
    names = list(answer.rows[0]) if answer.rows else list(COLUMNS[answer.question])
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in answer.rows:
        writer.writerow([_csv_value(row[name]) for name in names])
    return out.getvalue()


def as_table(answer: Answer, lang: str) -> str:
    """Columns with their heads, and a sentence on the test."""
    if not answer.rows:
        return say("nothing", lang) + "\n"
    names = COLUMNS[answer.question]
    cells = [[say(f"column-{name}", lang) for name in names]]
    cells += [[cell(name, row, lang) for name in names] for row in answer.rows]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(names))]
    right = [
        all(isinstance(row[name], (int, float, type(None))) and not isinstance(row[name], bool) for row in answer.rows)
        for name in names
    ]
    lines = []
    for row in cells:
        parts = [_padded(text, width, to_right) for text, width, to_right in zip(row, widths, right, strict=True)]
        lines.append("  ".join(parts).rstrip())
    if answer.total > len(answer.rows):
        lines.append(say("more", lang, count=answer.total - len(answer.rows)))
    if answer.test:
        lines += ["", say(f"test-{answer.test}", lang)]
    return "\n".join(lines) + "\n"


def cell(name: str, row: Row, lang: str) -> str:
    """A value as a person reads it."""
    value: Any = row[name]
    if value is None:
        return "-"
    if name == "verdict":
        return say(f"verdict-{value}", lang)
    if isinstance(value, bool):
        return say("yes" if value else "no", lang)
    if name in _SHARES:
        return f"{value:.2%}"
    if name == "probability":
        return f"{value:.2g}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    text = printable(str(value))
    return text if len(text) <= MAX_CELL_CHARACTERS else text[: MAX_CELL_CHARACTERS - 1] + "…"


def _csv_value(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, str):
        text = printable(value)
        return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


def _width(text: str) -> int:
    """Columns that a terminal needs: two for a Chinese character."""
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _padded(text: str, width: int, to_right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if to_right else text + blanks
