"""The report as Markdown, for an issue thread or a chat."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from troubleshooter.report.crash import lines as values
from troubleshooter.report.explanation import (
    changes_heading,
    comes_first,
    dependencies,
    releases_by_messages,
    sentences,
)
from troubleshooter.report.explanation import say as told_say
from troubleshooter.report.fill import safe
from troubleshooter.report.model import Diagnosis, Report
from troubleshooter.report.stopped import advice, headline, lines
from troubleshooter.report.way import steps
from troubleshooter.report.words import health, left_out, say

if TYPE_CHECKING:
    from troubleshooter.report.parts import Explained


def show(report: Report, *, several: bool = False, first: bool = True) -> None:
    """Print `markdown`."""
    sys.stdout.write(markdown(report) + "\n")


def markdown(report: Report) -> str:
    """The whole report."""
    lang = report.lang
    parts: list[str] = []
    if len(report.input["files"]) > 1 or report.input["files"][0] not in ("standard input", "text"):
        parts.append("_" + ", ".join(f"`{_code(f)}`" for f in report.input["files"][:8]) + "_\n")
    if report.stopped is not None:
        told = report.stopped
        parts.append(f"## {headline(told, lang)}\n\n{_fence(chr(10).join(lines(told, lang)), 'text')}\n")
        if report.exit_code != 1:
            parts.append("".join(f"- {line}\n" for line in advice(told, lang)))
    views = [f"## {told_say('second-view', lang)}\n\n{_explained(found, lang)}" for found in report.explained]
    before = comes_first(report)
    parts += views if before else []
    for diagnosis in report.diagnoses:
        parts.append(_diagnosis(diagnosis, lang))
    parts += views if report.diagnoses and not before else []
    if report.unexplained is not None:
        unknown = report.unexplained
        shown = "\n".join([f"{unknown['exception']}: {unknown['message']}", *steps(unknown["way"], lang)])
        head = told_say("explained", lang) if report.explained else say("unknown", lang)
        parts.append(f"## {head}\n\n{_fence(shown, 'text')}\n")
        parts += [_explained(found, lang) for found in report.explained]
        if unknown["nearest"]:
            parts.append(f"{say('nearest', lang)}:\n")
            parts += [f"- {near['title']} (`{near['id']}`)" for near in unknown["nearest"]]
    elif not report.diagnoses and report.stopped is None:
        parts.append(health(report))
    parts += (
        ["", *(line if line.startswith("- ") else f"**{line}**\n" for line in values(report)), ""]
        if report.crash
        else []
    )
    parts += [one + "\n" for one in releases_by_messages(report)]
    for problem in report.input["problems"]:
        if problem["problem"] in ("damaged", "no-facts"):
            parts.append(say(problem["problem"], lang, file=safe(problem["file"]), detail=safe(problem["detail"], 200)))
    return "\n".join(parts)


def _explained(found: Explained, lang: str) -> str:
    out = [sentence + "\n" for sentence in sentences(found, lang)]
    if found["arguments"]:
        out += [f"**{told_say('depends', lang)}**\n", *(f"- {one}" for one in dependencies(found, lang)), ""]
    if found["suggestions"]:
        out.append(f"**{changes_heading(found, lang)}**\n")
    for number, step in enumerate(found["suggestions"], 1):
        code = f": `{step['code']}`" if step["code"] and step["code"] not in step["do"] else ""
        out.append(f"{number}. {step['do']}{code}")
    return "\n".join(out) + "\n"


def _diagnosis(item: Diagnosis, lang: str) -> str:
    word = say("harmless" if item.kind == "harmless" else item.confidence, lang)
    out = [f"## {word}: {item.title}", "", f"`{item.id}`", "", f"**{say('shows', lang)}**", ""]
    out.append(_fence("\n".join(f"{e.where or e.line:>6}  {e.text}" for e in item.evidence), "text"))
    out += ["", f"**{say('why', lang)}**", "", *([item.summary, ""] if item.summary else []), item.cause, ""]
    if item.fixes:
        out += [f"**{say('do', lang)}**", ""]
    for number, fix in enumerate(item.fixes, 1):
        out.append(f"{number}. {fix.do}" + ("" if fix.risk == "safe" else f" _({say(fix.risk, lang)})_"))
        if fix.why:
            out.append(f"   {fix.why}")
        for code, language in ((fix.code, fix.language or "text"), (fix.shell, "sh")):
            if code:
                out += ["", *("   " + line for line in _fence(code, language).splitlines()), ""]
    out += [f"{one}\n" for one in left_out(item, lang)]
    return "\n".join(out) + "\n"


def _fence(text: str, language: str) -> str:
    """A fenced block that nothing in the text can close."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text}\n{ticks}"


def _code(text: str) -> str:
    return safe(text).replace("`", "'")
