"""Judge the fixes of an entry: before a run from versions and records, after it from what the probe tried."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kb import versions
from troubleshooter.verify.entry import EntryLike, FixLike
from troubleshooter.verify.outcome import Row, describe
from troubleshooter.verify.verdict import FixResult
from troubleshooter.verify.words import say

__all__ = ["Repaired", "after_run", "before_run"]

Repaired = Sequence[tuple[Mapping[str, str], str]]
"""The versions and the date of each recorded run that did not show the failure."""

_REQUIREMENT = re.compile(r"([A-Za-z][\w.-]*)\s*(>=|==|~=)\s*(\d[\w.]*)")


def after_run(entry: EntryLike, rows: Sequence[Row], language: str, repaired: Repaired) -> tuple[FixResult, ...]:
    """The entry's fixes with what the run says about each, then the fixes that only the probe tried."""
    used: set[str] = set()
    results = []
    for plain, fix in zip(before_run(entry, language, repaired), entry.fixes, strict=True):
        matching = _matching(fix, rows)
        used.update(str(row.get("name")) for row in matching)
        results.append(_merged(plain, matching, language) if matching else plain)
    for row in rows:
        if str(row.get("name")) not in used:
            results.append(replace(_merged(FixResult(str(row.get("do")), None), [row], language), in_entry=False))
    return tuple(results)


def _matching(fix: FixLike, rows: Sequence[Row]) -> list[Row]:
    """The rows that tried this fix: those whose pattern ``words`` matches the longest part of the fix's text."""
    english = (
        getattr(fix, "english", None) or fix.do
    )  # the probe's patterns are English in every language of the answer
    text = "\n".join(part for part in (fix.code, fix.shell, english) if part)
    lengths: list[tuple[int, Row]] = []
    for row in rows:
        words = str(row.get("words") or "")
        found = re.search(words, text, re.IGNORECASE) if words else None
        if found:
            lengths.append((len(found[0]), row))
    best = max((length for length, _ in lengths), default=0)
    return [row for length, row in lengths if length == best]


def _merged(plain: FixResult, rows: Sequence[Row], language: str) -> FixResult:
    """What the run says of one fix; a fix that was tried in several cases must help in each."""
    removed = [row.get("removed") for row in rows]
    verdict = False if False in removed else None if None in removed else True
    texts = []
    for row in rows:
        if row.get("text"):
            texts.append(str(row["text"]))
        elif row.get("removed") is False and len(rows) > 1:
            texts.append(f"{row.get('do')}: {say('not-removed', language)}")
        elif row.get("removed") is None and (row.get("observed") or {}).get("exception"):
            texts.append(say("fix-other", language, what=describe(row)))
    cost: Mapping[str, Any] = next((row["cost"] for row in rows if row.get("cost")), {})
    return FixResult(plain.do, verdict, cost, "; ".join(texts) or plain.text)


def before_run(entry: EntryLike, language: str, repaired: Repaired = ()) -> tuple[FixResult, ...]:
    """The entry's fixes before any run, each upgrade with whether it leaves the affected range."""
    results = []
    for fix in entry.fixes:
        text = None
        for name, _, version in _REQUIREMENT.findall(fix.shell or ""):
            range_ = entry.versions.get(name.lower())
            if range_ is None:
                continue
            try:
                inside = versions.contains(range_, version)
            except ValueError:
                continue
            key = "stays-in-range" if inside else "leaves-range"
            shown = "" if inside else _recorded(name, version, repaired, language)
            text = say(key, language, package=name, version=version, recorded=shown)
        results.append(FixResult(fix.do, None, text=text))
    return tuple(results)


def _recorded(package: str, version: str, repaired: Repaired, language: str) -> str:
    """What a recorded run says about that version or a newer one; empty if there is none."""
    for installed, date in repaired:
        try:
            if package in installed and versions.contains(f">={version}", installed[package]):
                return say("recorded", language, package=package, version=installed[package], date=date)
        except ValueError:
            continue
    return ""
