"""An explanation in sentences, the same for every renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.text.catalog import Section
from troubleshooter.report.words import say as report_say

if TYPE_CHECKING:
    from troubleshooter.report.model import Report
    from troubleshooter.report.parts import Explained

say = Section("explain")


def comes_first(report: Report) -> bool:
    """True if the explanation is shown above the diagnosis: the diagnosis fits by its words only, as the traceback ends in a
    place that its entry does not name."""
    if not report.explained or not report.diagnoses:
        return False
    from troubleshooter.elsewhere import NOTE

    return NOTE in report.diagnoses[0].notes


def sentences(found: Explained, lang: str) -> list[str]:
    """Where it was raised and why, which line of the user's led there, and what is known of the message. No place is named
    where the message alone explains the failure, and where the user's own line raised it, which is named anyway."""
    where = f"`{found['file']}:{found['source_line']}`" if found["source_line"] else f"`{found['file']}`"
    place = f"{where}, `{found['function']}`" if found["function"] else where
    own = found["own"]
    is_own = own is not None and (own["file"], own["line"]) == (found["file"], found["source_line"])
    stop = report_say("stop", lang)
    condition = found["condition"]
    if condition and (is_own or not found["file"]):
        out = [say("because", lang, condition=condition) + stop]
    elif condition:
        out = [say("raised-because", lang, place=place, condition=condition) + stop]
    else:
        out = [say("raised-in", lang, place=place) + stop]
    if own is not None:
        text = f"`{own['file']}:{own['line']}`" + (f"  `{first_line(own['code'])}`" if own["code"] else "")
        out.append(say("your-line", lang, place=text) + ("" if own["code"] else stop))
    if found["places"] > 1:
        out.append(say("several", lang, count=found["places"]) + stop)
    first, last = found["releases"]["first"], found["releases"]["last"]
    if first and last:
        out.append(say("between", lang, package=found["package"], first=first, last=last) + stop)
    elif first:
        out.append(say("since", lang, package=found["package"], first=first) + stop)
    return out


def changes_heading(found: Explained, lang: str) -> str:
    """The heading of the suggestions, which says what they are derived from: the code, or only the words of the message."""
    only_said = all(one["basis"] == "message" for one in found["suggestions"])
    return say("would-change-said" if only_said else "would-change", lang)


def releases_by_messages(report: Report) -> list[str]:
    """Sentences about the releases that the log's messages fit: for packages whose version the log does not show, and for
    shown versions that the messages contradict."""
    lang, out = report.lang, []
    for one in report.dated:
        first, last = one["first"], one["last"]
        if one["printed"] is not None and not one["contradicted"]:
            continue
        if one["printed"] is None and any(_says(found, one["package"], first, last) for found in report.explained):
            continue
        if first and last:
            told = say("dated-one" if first == last else "dated-between", lang, first=first, last=last)
        else:
            told = say("dated-since", lang, first=first) if first else say("dated-until", lang, last=last)
        key = "dated-against" if one["contradicted"] else "dated"
        sentence = say(key, lang, package=one["package"], told=told, printed=one["printed"], line=one["line"])
        out.append(sentence + report_say("stop", lang))
    return out


def _says(found: Explained, package: str, first: str | None, last: str | None) -> bool:
    """Whether an explanation names these releases of a package already."""
    return found["package"] == package and (found["releases"]["first"], found["releases"]["last"]) == (first, last)


def dependencies(found: Explained, lang: str) -> list[str]:
    """The settings of the user that the condition depends on, each with its value if the log shows it."""
    out = []
    for one in found["arguments"]:
        value = f" = `{one['value']}`" if one["value"] is not None else ""
        out.append(f"`{one['name']}`{value}" + report_say("aside", lang, text=one["why"]))
    return out


def first_line(text: str) -> str:
    """The first line of code, without backticks, which would end the marked text."""
    return text.split("\n")[0].strip().replace("`", "'")
