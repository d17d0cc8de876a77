"""One entry on a terminal: symptoms, cause, fixes, versions, lookalikes and sources."""

from __future__ import annotations

from typing import Any

from kb.compiled import Body, translation
from kb.placeholders import general
from kb.printed import told, told_thread
from troubleshooter.report.console import new_console
from troubleshooter.report.diagnosis import texts
from troubleshooter.report.model import FixStep, Report, unseen_end
from troubleshooter.report.retry import decide
from troubleshooter.report.terminal import Page
from troubleshooter.report.words import say


def messages(body: Body) -> list[str]:
    """The patterns of the symptoms. They are shown if no sample prints a message."""
    found: list[str] = []
    stack: list[dict[str, Any]] = [c for s in body["symptoms"] for c in s["require"]]
    while stack:
        condition = stack.pop(0)
        types = " / ".join(condition.get("exception", []))
        for pattern in condition.get("patterns", []):
            text = f"{types}: {pattern['re']}" if types else pattern["re"]
            if text not in found:
                found.append(text)
        stack = condition.get("parts", []) + stack
    return found


def _nothing(lang: str) -> Report:
    return Report(
        input={"files": [], "lines": 0, "bytes": 0, "complete": True, "piped": False, "problems": []},
        failures=[],
        diagnoses=[],
        unexplained=None,
        first_failure=None,
        facts={"versions": {}, "gpus": [], "capabilities": [], "platforms": [], "newer_than_checked": {}},
        exits=[],
        metrics={},
        ignored=[],
        stopped=None,
        ending=unseen_end(),
        explained=[],
        crash=[],
        dated=[],
        retry=decide((), None, None),
        lang=lang,
    )


def show(body: Body, lang: str) -> None:
    """Print the entry."""
    page = Page(_nothing(lang), new_console())
    text = texts(body, lang)
    page.print(general(text["title"]), "bold")
    page.print(" · ".join([body["id"], body["area"], say(body["severity"], lang)]), "dim", indent=2)
    if body.get("replaced_by"):
        page.print(say("retired-entry", lang, id=body["replaced_by"]), "yellow", indent=2)
    if body.get("status") == "draft":
        page.print(say("draft-entry", lang), "yellow", indent=2)
    page.head("shows")
    for message in (body["printed"] or messages(body))[:8]:
        page.print(f"- {message}", indent=2, hanging=2)
    if known := told(body["id"], lang):
        page.print(known, "dim", indent=2)
    if known := told_thread(body["id"], lang):
        page.print(known, "dim", indent=2)
    page.head("why")
    if text["summary"]:
        page.paragraphs(general(text["summary"]))
    page.paragraphs(general(text["cause"]))
    if ranges := body.get("versions"):
        page.print(f"{say('affected', lang)}: " + ", ".join(f"{p} {r}" for p, r in ranges.items()), indent=2)
    if text["fixes"]:
        page.head("do")
    for number, fix in enumerate(text["fixes"], 1):
        given = {name: general(fix[name]) or None if fix.get(name) else None for name in ("why", "code", "shell")}
        page.fix(number, FixStep(general(fix["do"]), fix["risk"], given["why"], given["code"], None, given["shell"]))
    if others := body.get("lookalikes", {}).get("confused"):
        page.head("apart")
        for other in others:
            page.item(translation(other, lang) or other["because"], other["entry"])
    page.head("sources")
    for source in body["sources"]:
        place = source.get("url") or source.get("run") or f"{source['package']} {source['versions']}: {source['file']}"
        page.print(f"- {place}", indent=2, hanging=2)
