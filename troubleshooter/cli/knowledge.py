"""The commands about entries: list, show, search, explain."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from kb.cache import knowledge
from kb.compiled import Body, translation
from kb.errors import UsageError
from kb.extensions import CALLER, entry_folders
from kb.literal_index import Listed, Status
from kb.nearest import did_you_mean
from kb.placeholders import general
from kb.printed import from_one_thread, printed_by, proven
from kb.text.catalog import language, languages
from troubleshooter.cli.settings import configured_entries
from troubleshooter.report.fill import safe
from troubleshooter.report.jsontext import as_json
from troubleshooter.report.words import say

_MARKS = {"held": "✓", "contradicted": "✗", "unseen": "·"}


def list_(
    area: str | None, kind: str | None, sources: bool, entries: list[Path], lang: str, format: str,
    status: str | None = None,
) -> int:  # fmt: skip
    """Print all entries by area, or with ``sources`` the folders that they come from. ``status``: only entries with it."""
    if sources:
        return _sources(entries, lang, format)
    found = _with_proofs(knowledge(*entries).listing())
    areas = sorted({told.area for told in found})
    if area is not None and area not in areas:
        raise UsageError(f"list: no area {area!r}; {did_you_mean(area, areas, 'there are: ' + ', '.join(areas))}")
    chosen = [
        told
        for told in found
        if area in (None, told.area) and kind in (None, told.kind) and (status is None or _stands(told, status))
    ]
    if format == "json":
        keys = ("id", "area", "kind", "severity", "title", "status")
        print(as_json([{key: getattr(told, key) for key in keys} for told in chosen]))
        return 0
    lines: list[str] = []
    for name, group in groupby(sorted(chosen, key=lambda told: told.area), lambda told: told.area):
        lines.append(name)
        lines += [
            f"  {told.id:44} {_marks(told, lang)}{safe(general(told.titles.get(lang, told.title)))}" for told in group
        ]
    page(lines)
    return 0


def _with_proofs(found: list[Listed]) -> list[Listed]:
    """The entries with the status that `check --proof` and recorded runs give them."""
    held = proven({told.id for told in found if "proven" in told.status})
    shown = []
    for told in found:
        status: list[Status] = [one for one in told.status if one != "proven"]
        shown.append(told._replace(status=[*status, "proven"] if told.id in held else status))
    return shown


def _stands(told: Listed, status: str) -> bool:
    """True if an entry has the status. ``unread`` means that nobody has reviewed it and that it is not retired."""
    if status == "unread":
        return not {"reviewed", "retired"} & set(told.status)
    return status in told.status


def _marks(told: Listed, lang: str) -> str:
    """The mark before the title of an entry that is a draft or retired; other statuses have none."""
    return "".join(f"[{say(f'status-{one}', lang)}] " for one in told.status if one in ("draft", "retired"))


def _sources(entries: list[Path], lang: str, format: str) -> int:
    """Print each folder of entries, who named it, how many entries it has, and which of them replace earlier ones."""
    configured = {str(path): file for path, file in configured_entries()}
    named = {str(path): configured.get(str(path), named_by) for path, named_by, _ in entry_folders(entries)}
    rows: list[dict[str, object]] = []
    seen: set[str] = set()
    for pack in knowledge(*entries).packs:
        ids = pack.index.ids
        by = named.get(pack.origin, "")
        rows.append(
            {
                "folder": str(pack.path) if pack.origin == "shipped" else pack.origin,
                "named_by": say("shipped", lang) if pack.origin == "shipped" else "--entries" if by == CALLER else by,
                "entries": len(ids),
                "replaces": sorted(seen.intersection(ids)),
            }
        )
        seen.update(ids)
    if format == "json":
        print(as_json(rows))
        return 0
    for number, row in enumerate(rows, 1):
        print(safe(say("source", lang, number=number, **row)))
        for id_ in row["replaces"]:  # type: ignore[attr-defined]
            print("   " + say("replaces", lang, id=id_))
    return 0


def show(entry: str, entries: list[Path], lang: str, format: str) -> int:
    """Print one entry."""
    body, _ = knowledge(*entries).need(entry)
    if format == "json":
        print(as_json(_with_keys(body), indent=1))
        return 0
    from troubleshooter.report.entry import show as print_entry

    if body["id"] != entry:
        print(say("renamed-entry", lang, alias=entry, id=body["id"]))
    print_entry(body, lang)
    return 0


def _with_keys(body: Body) -> dict[str, Any]:
    """An entry as JSON. It also has a key for each language into which all entries are translated, as its readers expect."""
    codes = [code for code in languages() if language(code).every_entry]
    confused = [item | {code: translation(item, code) for code in codes} for item in body["lookalikes"]["confused"]]
    lookalikes = body["lookalikes"] | {"confused": confused}
    printed = [one._asdict() for one in printed_by(body["id"])]
    known = {"printed_by": printed, "from_one_thread": sorted(from_one_thread(body["id"]))}
    return body | known | {code: translation(body, code) for code in codes} | {"lookalikes": lookalikes}


def search(words: list[str], entries: list[Path], lang: str, format: str) -> int:
    """Print the entries that match the words, then the messages of libraries that match them."""
    from kb.search import search as find

    found = find(knowledge(*entries), " ".join(words))
    messages = _messages(" ".join(words))
    if format == "json":
        rows = [{"id": b["id"], "title": b["title"], "score": round(s), "kind": "entry"} for s, b in found]
        print(as_json([*rows, *messages]))
        return 0 if rows or messages else 3
    for _, body in found:
        print(f"{body['id']:44} {_title(body, lang)}")
    if messages:
        print(("\n" if found else "") + say("messages", lang))
    for one in messages:
        where = ", ".join(str(part) for part in (one["file"], one["function"]) if part)
        since = " - ".join(str(part) for part in (one["first"], one["last"]) if part)
        print(f"  {one['package']} {since}".rstrip() + f"  {safe(str(one['title']), 200)}")
        if where:
            print(f"      {safe(where)}")
    if not found and not messages:
        print(say("not-found", lang), file=sys.stderr)
    return 0 if found or messages else 3


def _messages(words: str) -> list[dict[str, object]]:
    """The messages of the index that match the words; none if no index is installed."""
    from kb.index.message import IndexUnreadable
    from kb.index.place import shown
    from kb.index.store import shipped

    try:
        found = shipped().search(words)
    except IndexUnreadable:
        return []
    return [
        {
            "id": None, "title": " ".join(shown(one.template).split()), "score": 0, "kind": "message",
            "package": one.package, "exception": one.exception,
            "file": one.sites[0].file if one.sites else None, "function": one.sites[0].function if one.sites else None,
            "first": one.releases[0][0] if one.releases else None, "last": one.releases[-1][1] if one.releases else None,
        }
        for one in found
    ]  # fmt: skip


def page(lines: Sequence[str]) -> None:
    """Print the lines. If they do not fit on the terminal, use the user's pager (``PAGER``, else ``less``)."""
    text = "\n".join(lines)
    if sys.stdin.isatty() and sys.stdout.isatty() and len(lines) >= shutil.get_terminal_size().lines:
        import pydoc

        os.environ.setdefault("LESSCHARSET", "utf-8")
        pydoc.pager(text + "\n")
    else:
        print(text)


def explain(entry: str, log: Path, entries: list[Path], lang: str) -> int:
    """Print each symptom of an entry, condition by condition."""
    from troubleshooter.cli.why import placed
    from troubleshooter.explain import explain as tried
    from troubleshooter.explain import placing
    from troubleshooter.pipeline import Diagnoser
    from troubleshooter.read.sources import from_path, from_stream

    tool = Diagnoser.load(entries)
    found = tool.knowledge.need(entry)
    entry = str(found[0]["id"])
    sources = [from_stream(sys.stdin.buffer)] if str(log) == "-" else from_path(log)
    observations = tool.observe(sources)
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
                    print(f"      {say('line', lang, line=shown.line.number)}: {shown.text.strip()[:160]}")
        if one.trial.captured:
            print("  captured " + ", ".join(f"{k}={v!r}" for k, v in sorted(one.trial.captured.items())[:12]))
    for line in placed(placing(entry, observations, tool.knowledge), lang):
        print(line)
    return 0 if holds else 3


def _title(body: Body, lang: str) -> str:
    return general(str((translation(body, lang) or body)["title"]))
