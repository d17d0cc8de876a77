"""The report in one line of bounded length, for machines: a job's comment, a termination message, a table of runs.

``key=value`` pairs, separated by blanks. A value that is no plain word is a JSON string. Keys are only ever added.
"""

from __future__ import annotations

import re
import sys

from troubleshooter.report.jsontext import as_json
from troubleshooter.report.model import Report
from troubleshooter.report.stopped import headline
from troubleshooter.report.words import health

MAX_LINE_BYTES = 512
"""A line is never longer than this, its line break included."""
MAX_FILE_BYTES, MAX_EXCEPTION_BYTES, MAX_TEXT_BYTES = 100, 80, 200
"""Of these values, with their quotes. All other values are words of ours or numbers."""
_ELLIPSIS = "…"
_WORD = re.compile(r"[\w./:+-]+\Z", re.ASCII)


def show(report: Report, *, several: bool = False, first: bool = True) -> None:
    """Print `line`."""
    sys.stdout.write(line(report) + "\n")


def line(report: Report) -> str:
    """The first answer of the report, with the line of the log that shows it. The text has no line break."""
    file = report.input["files"][0] if report.input["files"] else ""
    fields: dict[str, str | int] = {"exit": report.exit_code}
    if report.diagnoses:
        found = report.diagnoses[0]
        fields["verdict"] = found.kind
        fields["id"] = found.id
        fields["confidence"] = found.confidence
        fields["severity"] = found.severity
        fields["retry"] = found.retry
        _decide(report, fields)
        for shown in found.evidence[::-1]:
            if shown.line:  # 0: it was read in the training environment, not in the log
                fields["line"] = shown.line
                file = shown.file or file
                break
        text = found.title
    elif (unknown := report.unexplained) is not None:
        fields["verdict"] = "explained" if report.explained else "unexplained"
        _decide(report, fields)
        fields["exception"] = _bounded(unknown["exception"], MAX_EXCEPTION_BYTES)
        fields["line"] = unknown["line"]
        file = unknown["file"] or file
        text = unknown["message"]
    elif report.stopped is not None:
        fields["verdict"] = "stopped"
        fields["signal"] = report.stopped["by"]
        text = headline(report.stopped, report.lang)
    else:
        fields["verdict"] = "nothing"
        text = health(report)
    fields["file"] = _bounded(file, MAX_FILE_BYTES, keep_end=True)
    fields["text"] = _bounded(" ".join(text.split()), MAX_TEXT_BYTES)
    return " ".join(f"{key}={value}" for key, value in fields.items())


def _decide(report: Report, fields: dict[str, str | int]) -> None:
    decision = report.retry["decision"]
    if decision is not None:
        fields["decision"] = decision


def _bounded(text: str, max_bytes: int, keep_end: bool = False) -> str:
    """A word as it is, or else a JSON string; cut to ``max_bytes`` at its end, or at its beginning."""
    shown = _value(text)
    if len(shown.encode()) <= max_bytes:
        return shown
    left = max_bytes - len(as_json(_ELLIPSIS).encode())
    kept: list[str] = []
    for character in reversed(text) if keep_end else text:
        left -= len(as_json(character).encode()) - 2
        if left < 0:
            break
        kept.append(character)
    return as_json(_ELLIPSIS + "".join(reversed(kept)) if keep_end else "".join(kept) + _ELLIPSIS)


def _value(text: str) -> str:
    return text if _WORD.match(text) else as_json(text)
