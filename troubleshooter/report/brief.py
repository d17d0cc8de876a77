"""The report in three lines (what, why, the first fix), for terminals and scripts."""

from __future__ import annotations

import re
import sys

from rich.cells import cell_len, set_cell_size

from kb.text.catalog import language
from troubleshooter.report.console import columns
from troubleshooter.report.explanation import say as told_say
from troubleshooter.report.explanation import sentences
from troubleshooter.report.fill import safe
from troubleshooter.report.model import Report
from troubleshooter.report.stopped import advice, headline
from troubleshooter.report.stopped import lines as stood
from troubleshooter.report.way import steps
from troubleshooter.report.words import health, say

PIPED = 200
"""The width of a line, in cells, when the output is not a terminal."""
_MARKS = re.compile(r"\*\*(.+?)\*\*|`([^`\n]+)`")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])|(?<=[。！？])")


def show(report: Report, *, several: bool = False, first: bool = True) -> None:
    """Print `lines`. They are as wide as ``COLUMNS`` says, else as the terminal, else `PIPED`."""
    if sys.stdout.isatty():
        from rich.console import Console

        width = Console(file=sys.stdout).width
    else:
        width = columns(PIPED)
    for line in lines(report, width, several=several):
        sys.stdout.write(line + "\n")


def lines(report: Report, width: int, *, several: bool = False, numbered: bool = True) -> list[str]:
    """One to three lines of at most ``width`` cells: what failed, why, what to do first.

    ``several``: this is one of several reports, so the first line begins with the name of the file. ``numbered``: lines of the log
    are named by their numbers; in a notebook there is no log.
    """
    lang = report.lang
    colon = say("colon", lang)
    name = f"{report.input['files'][0]}{colon}" if several and report.input["files"] else ""
    if report.diagnoses:
        found = report.diagnoses[0]
        word = say("harmless" if found.kind == "harmless" else found.confidence, lang)
        entry = say(
            "aside", lang, text=found.id
        )  # readers look the entry up by its id, so a long title is cut and the id stays
        out = [_cut(f"{name}{word}{colon}{_plain(found.title)}", max(width - cell_len(entry), 1)) + entry]
        out.append(say("why", lang) + colon + _first_sentence(found.summary or found.cause, lang))
        if found.fixes:
            first = found.fixes[0]
            command = (first.shell or "").strip().split("\n")[0]
            out.append(say("do", lang) + colon + _joined(first.do, lang) + (f" ({command})" if command else ""))
    elif (unknown := report.unexplained) is not None:
        out = [name + (told_say("explained", lang) if report.explained else say("unknown", lang))]
        text = f"{unknown['exception']}: {unknown['message']}" if unknown["message"] else unknown["exception"]
        place = say("line", lang, line=unknown["line"]) + colon if numbered else ""
        out.append(place + " ".join(text.split()))
        if report.explained:
            out.append(sentences(report.explained[0], lang)[0])
        elif way := list(steps(unknown["way"], lang)):
            out.append(way[0])
    elif report.stopped is not None:
        told = report.stopped
        out = [name + headline(told, lang), stood(told, lang)[0], say("do", lang) + colon + advice(told, lang)[0]]
    else:
        out = [name + health(report)]
    return [_cut(_plain(line), width) for line in out]


def _plain(text: str) -> str:
    return safe(_MARKS.sub(lambda m: m[1] or m[2], text))


def _first_sentence(text: str, lang: str) -> str:
    return _SENTENCE.split(_joined(text, lang), maxsplit=1)[0]


def _joined(text: str, lang: str) -> str:
    return language(lang).between.join(line.strip() for line in text.strip().splitlines())


def _cut(line: str, width: int) -> str:
    return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + "…"
