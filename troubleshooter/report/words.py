"""The report's phrases in each language, and the sentence for a log without a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.text.catalog import Section
from troubleshooter.observe.exits import SIGNALS
from troubleshooter.report.fill import safe

if TYPE_CHECKING:
    from troubleshooter.report.model import Diagnosis, Report
    from troubleshooter.report.parts import FirstFailure

say = Section("report")


def left_out(item: Diagnosis, lang: str) -> list[str]:
    """A sentence for each fix that is not shown because the log shows that its releases are installed already."""
    return [
        say(
            "fix-left-out",
            lang,
            installed=", ".join(f"{package} {safe(version, 40)}" for package, version in one["installed"].items()),
            do=one["do"],
        )
        for one in item.fixes_left_out
    ]


def is_well(report: Report) -> bool:
    """True if a report without a failure may say that nothing is wrong: the whole log was read, and it shows its end."""
    return report.ending["state"] == "ended" and not report.input["problems"]


def health(report: Report) -> str:
    """The sentence for a log without a failure. It says that nothing is wrong only if `is_well`."""
    lang, state, lines = report.lang, report.ending["state"], report.input["lines"]
    if is_well(report):
        return say("nothing", lang) + say("aside", lang, text=say("read", lang, count=lines)) + say("stop", lang)
    key = "end-written" if state == "written" else "end-piped" if report.input["piped"] else "end-unknown"
    read = say("nothing-read", lang) + say("aside", lang, text=say("lines", lang, count=lines))
    if report.input["problems"]:  # the problems, listed beside it, say which part could not be read
        return read + say("stop", lang)
    return read + say("half", lang) + say(key, lang) + say("stop", lang)


def first_rank(first: FirstFailure, lang: str) -> str:
    """A sentence on the rank that failed first."""
    key = "first-rank-signal" if first["exception"] in SIGNALS else "first-rank"
    told = say(key, lang, rank=first["rank"], line=first["line"], name=first["exception"])
    return told + (say("followed", lang, count=len(first["followed"])) if first["followed"] else "")
