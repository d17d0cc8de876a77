"""``check``: entries tried on logs. Each fires on its samples, and stays silent on near misses, healthy logs and others'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kb.check import check as static
from kb.load import Library, Loaded
from kb.patterns import words
from kb.problem import Problem
from troubleshooter.explain import explain
from troubleshooter.match.engine import Candidate
from troubleshooter.observe.model import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.rank import Ranked, rank
from troubleshooter.read.sources import from_path
from troubleshooter.read.stream import read
from troubleshooter.read.text import fold
from troubleshooter.verify.record import check_records


@dataclass(slots=True)
class Tried:
    """What the tool said to one log."""

    ranked: list[Ranked]
    candidates: list[Candidate]
    observations: Observations

    @property
    def ids(self) -> list[str]:
        return [r.candidate.id for r in self.ranked]


def try_log(tool: Diagnoser, path: Path) -> Tried:
    observations = tool.observe(from_path(path))
    found = tool.match(observations)
    return Tried(rank(found, observations), found, observations)


def check(
    library: Library, tool: Diagnoser, wanted: Iterable[str] | None = None, healthy: Path | None = None
) -> list[Problem]:
    """All problems, static ones first, of the wanted entries (default: all)."""
    ids = sorted(wanted if wanted is not None else library.entries)
    found = static(library, ids)
    faulty = {problem.path.parent for problem in library.problems}
    fired: dict[str, set[str]] = {}
    for id_ in ids:
        item = library.entries[id_]
        if item.folder in faulty:
            continue
        found += _match(item, library, tool, fired)
        found += _no_match(item, tool)
        found += _unreached(item, fired.get(id_, set()))
        found += [problem for problem in check_records(item.entry, item.folder) if problem.fails]
    if healthy is not None and healthy.is_dir():
        found += list(silent_on(tool, healthy, set(ids), library))
    return sorted(set(found))


def notes(library: Library, wanted: Iterable[str]) -> list[Problem]:
    """What is to be known and fails nothing: claims without a record, records of an older probe."""
    items = (library.entries[id_] for id_ in sorted(wanted))
    return [problem for item in items for problem in check_records(item.entry, item.folder) if not problem.fails]


def _match(item: Loaded, library: Library, tool: Diagnoser, fired: dict[str, set[str]]) -> Iterator[Problem]:
    entry = item.entry
    for path in item.samples("match"):
        tried = try_log(tool, path)
        mine = next((r for r in tried.ranked if r.candidate.id == entry.id), None)
        for candidate in tried.candidates:
            if candidate.id == entry.id:
                fired.setdefault(entry.id, set()).add(candidate.trial.symptom)
                fired[entry.id] |= _holding(tool, entry.id, tried.observations)
        if mine is None:
            yield Problem(path, 1, 1, "", f"does not give {entry.id}", _why(tool, entry.id, tried))
            continue
        if tried.ids[0] != entry.id:
            first = tried.ids[0]
            yield Problem(path, 1, 1, "", f"gives {first} before {entry.id}", "tell them apart by a condition")
        allowed = _related(item, library)
        for other in tried.ids:
            if other != entry.id and other not in allowed:
                hint = "declare it in not_to_confuse_with or overlaps, or tell them apart"
                yield Problem(path, 1, 1, "", f"gives {other} too", hint)


def _no_match(item: Loaded, tool: Diagnoser) -> Iterator[Problem]:
    for path in item.samples("no_match"):
        tried = try_log(tool, path)
        if item.entry.id in tried.ids:
            yield Problem(
                path, 1, 1, "", f"gives {item.entry.id}, which it must not", "add the condition that tells it apart"
            )
            continue
        if item.entry.id in {c.id for c in tried.candidates}:
            continue  # holds, but something more specific replaces it
        found = tool.knowledge.find(item.entry.id)
        if found is None:
            continue
        explained = explain(*found, tried.observations, tool.knowledge)
        fewest = min((len(e.failing) for e in explained), default=99)
        if fewest > 1:
            text = f"is no near miss of {item.entry.id}: every symptom fails by {fewest} or more conditions"
            yield Problem(path, 1, 1, "", text, "take a log that fails by exactly one")
        elif fewest == 1 and not _holds_literal(tool, item.entry.id, path):
            yield Problem(path, 1, 1, "", f"holds no literal of {item.entry.id}", "a near miss has words of the entry")


def _holds_literal(tool: Diagnoser, id_: str, path: Path) -> bool:
    """Whether a near miss has words of the entry: a literal run of one of its patterns."""
    found = tool.knowledge.find(id_)
    assert found is not None
    text = fold(" ".join(line.text for source in from_path(path) for line in read(source))).lower()
    stack = [c for s in found[0]["symptoms"] for part in ("require", "support", "exclude") for c in s[part]]
    asks_words = False
    while stack:
        condition = stack.pop()
        for pattern in condition.get("patterns", []):
            asks_words = True
            if any(word in text for word in words(pattern["re"])):
                return True
        stack += condition.get("parts", [])
        if "part" in condition:
            stack.append(condition["part"])
    return not asks_words


def _holding(tool: Diagnoser, id_: str, observations: Observations) -> set[str]:
    found = tool.knowledge.find(id_)
    assert found is not None
    return {e.symptom for e in explain(*found, observations, tool.knowledge) if e.holds}


def _unreached(item: Loaded, fired: set[str]) -> Iterator[Problem]:
    for i, symptom in enumerate(item.entry.symptoms):
        if (name := symptom.name or str(i + 1)) not in fired:
            yield item.document.problem(
                ("symptoms", i), f"symptom {name} holds on no sample", "add a log to match/ that shows it"
            )


def _related(item: Loaded, library: Library) -> set[str]:
    """Entries that may answer on this entry's samples, by declaration on either side."""
    me = item.entry.id
    out: set[str] = set()
    for other in library.entries.values():
        entry = other.entry
        declared = {x.entry for x in (*entry.not_to_confuse_with, *entry.overlaps)} | set(entry.fallback_for or ())
        if entry.variant_of:
            declared.add(entry.variant_of)
        if me in declared or entry.fallback_for == []:
            out.add(entry.id)
        if entry.id == me:
            out |= declared
        if entry.role == "cascade" or entry.kind == "harmless":
            out.add(entry.id)
    return out


def silent_on(tool: Diagnoser, healthy: Path, wanted: set[str], library: Library) -> Iterator[Problem]:
    """False alarms: failure diagnoses on logs that hold none."""
    for path in sorted(p for p in healthy.rglob("*") if p.suffix in (".log", ".txt", ".out", ".ipynb")):
        for ranked in try_log(tool, path).ranked:
            if ranked.candidate.body["kind"] == "failure" and ranked.candidate.id in wanted:
                where = library.entries[ranked.candidate.id].document.path
                line = ranked.candidate.evidence[0].line.number if ranked.candidate.evidence else 1
                yield Problem(path, line, 1, "", f"a healthy log gives {ranked.candidate.id}", f"see {where}")


def _why(tool: Diagnoser, id_: str, tried: Tried) -> str:
    found = tool.knowledge.find(id_)
    if found is None:
        return "the entry is not loaded"
    if id_ in {c.id for c in tried.candidates}:
        return f"it holds, but {', '.join(tried.ids) or 'nothing'} replaces it"
    explained = explain(*found, tried.observations, tool.knowledge)
    best = min(explained, key=lambda e: len(e.failing), default=None)
    if best is None or not best.failing:
        return "no trigger of it was seen"
    outcome = best.failing[0]
    return f"symptom {best.symptom}: {outcome.said} is {outcome.state}"
