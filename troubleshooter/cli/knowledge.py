"""Commands about entries: list, show, search, explain."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kb.compiled import Body
from kb.placeholders import general
from kb.problem import EntryError
from troubleshooter.cli.settings import language
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.words import say

_MARKS = {"held": "✓", "contradicted": "✗", "unseen": "·"}


def _tool(entries: list[Path]) -> Diagnoser | None:
    try:
        return Diagnoser.load(entries)
    except EntryError as error:
        print(f"troubleshoot: entries that cannot be used:\n{error}", file=sys.stderr)
    except FileNotFoundError as error:
        print(f"troubleshoot: {error}", file=sys.stderr)
    return None


def _unknown(tool: Diagnoser, id_: str) -> int:
    from rapidfuzz import process

    near = process.extractOne(id_, tool.knowledge.ids(), score_cutoff=50)
    hint = f"did you mean {near[0]}?" if near else "see: troubleshoot list"
    print(f"troubleshoot: no entry {id_!r}; {hint}", file=sys.stderr)
    return 2


def list_(area: str | None, kind: str | None, entries: list[Path], lang: str | None, format: str) -> int:
    """Print all entries, by area."""
    tool = _tool(entries)
    if tool is None:
        return 2
    bodies = [b for b in tool.knowledge.bodies() if area in (None, b["area"]) and kind in (None, b["kind"])]
    if format == "json":
        keys = ("id", "area", "kind", "severity", "title")
        print(json.dumps([{k: b[k] for k in keys} for b in bodies], ensure_ascii=False))
        return 0
    spoken = language(lang)
    for name in sorted({b["area"] for b in bodies}):
        print(name)
        for body in (b for b in bodies if b["area"] == name):
            print(f"  {body['id']:44} {_title(body, spoken)}")
    return 0


def show(id_: str, entries: list[Path], lang: str | None, format: str) -> int:
    """Print one entry."""
    tool = _tool(entries)
    if tool is None:
        return 2
    found = tool.knowledge.find(id_)
    if found is None:
        return _unknown(tool, id_)
    body = found[0]
    if format == "json":
        print(json.dumps(body, ensure_ascii=False, indent=1))
        return 0
    from troubleshooter.report.entry import show as print_entry

    print_entry(body, language(lang))
    return 0


def search(words: str, entries: list[Path], lang: str | None, format: str) -> int:
    """Print the entries that the words fit."""
    from kb.search import search as find

    tool = _tool(entries)
    if tool is None:
        return 2
    found = find(tool.knowledge, words)
    if format == "json":
        print(
            json.dumps([{"id": b["id"], "title": b["title"], "score": round(s)} for s, b in found], ensure_ascii=False)
        )
    for _, body in found if format != "json" else ():
        print(f"{body['id']:44} {_title(body, language(lang))}")
    if not found and format != "json":
        print("nothing similar; try fewer words, or the exception's message", file=sys.stderr)
    return 0 if found else 3


def explain(id_: str, log: Path, entries: list[Path], lang: str | None) -> int:
    """Print each symptom of an entry, condition by condition."""
    from troubleshooter.explain import explain as tried
    from troubleshooter.read.sources import Unreadable, from_path, from_stream

    tool = _tool(entries)
    if tool is None:
        return 2
    found = tool.knowledge.find(id_)
    if found is None:
        return _unknown(tool, id_)
    try:
        sources = [from_stream(sys.stdin.buffer)] if str(log) == "-" else from_path(log)
        observations = tool.observe(sources)
    except Unreadable as error:
        print(f"troubleshoot: {error}", file=sys.stderr)
        return 2
    holds = False
    for one in tried(*found, observations, tool.knowledge):
        holds = holds or one.holds
        print(f"symptom {one.symptom}: {'holds' if one.holds else f'fails by {len(one.failing)}'}")
        for part, outcomes in (
            ("require", one.trial.require),
            ("support", one.trial.support),
            ("exclude", one.trial.exclude),
        ):
            for outcome in outcomes:
                print(f"  {_MARKS[outcome.state]} {part:8} {outcome.state:12} {outcome.said}")
                for shown in outcome.evidence[:2]:
                    print(f"      {say('line', language(lang), line=shown.line.number)}: {shown.text.strip()[:160]}")
        if one.trial.captured:
            print("  captured " + ", ".join(f"{k}={v!r}" for k, v in sorted(one.trial.captured.items())[:12]))
    return 0 if holds else 3


def _title(body: Body, lang: str) -> str:
    zh = body.get("zh") if lang == "zh" else None
    return general(str((zh or body)["title"]))
