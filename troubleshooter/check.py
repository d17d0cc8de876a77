"""``check``: try entries on logs. Each must answer its own samples, and stay silent on near misses, healthy logs and the
samples of other entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kb.check import check as static
from kb.check import unread, unshared
from kb.check_references import fits_table
from kb.compiled import Knowledge
from kb.likeness import nearest
from kb.load import Library, Loaded, conditions
from kb.patterns import words
from kb.problem import Problem
from kb.samples import EntrySample, write
from troubleshooter import own_code, shown_fixes
from troubleshooter.explain import explain
from troubleshooter.neighbours import Neighbours
from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.ranked import Ranked
from troubleshooter.read.sources import from_text
from troubleshooter.read.stream import read
from troubleshooter.read.text import fold
from troubleshooter.tried import Tried, try_log
from troubleshooter.verify.record import check_records


@dataclass(frozen=True, slots=True)
class Loadable:
    """Everything that an entry may refer to: the loaded entries, and those beside it in its folder of entries."""

    tool: Diagnoser
    library: Library
    roots: frozenset[Path]

    def entry(self, id_: str) -> bool:
        if id_ in self.library.entries or self.tool.knowledge.owner(id_) is not None:
            return True
        return any(next(root.glob(f"*/{id_}/entry.yaml"), None) for root in self.roots)

    def successor(self, id_: str) -> str | None:
        if (item := self.library.entries.get(id_)) is not None:
            return item.entry.replaced_by
        return self.tool.knowledge.successor(id_)

    def renamed(self, alias: str) -> set[str]:
        compiled = self.tool.knowledge.renamed(alias) - set(self.library.entries)
        return compiled | {id_ for id_, item in self.library.entries.items() if alias in item.entry.aliases}

    def table(self, name: str) -> bool:
        return any(fits_table(name, table) for table in self._tables())

    def names(self) -> list[str]:
        return [*self.library.entries, *self.tool.knowledge.ids(), *self._tables()]

    def _tables(self) -> list[str]:
        return [*self.library.tables, *(name for pack in self.tool.knowledge.packs for name in pack.index.tables)]


def check(
    library: Library, tool: Diagnoser, wanted: Iterable[str] | None = None, healthy: Path | None = None,
    beside: Neighbours | None = None, shared: bool = True, probes: Sequence[Path] = (),
) -> list[Problem]:  # fmt: skip
    """All problems, static ones first, of the wanted entries (default: all).

    ``library`` holds at least the wanted entries; references are resolved against all that ``tool`` has loaded.
    ``healthy``: logs on which no failure may be diagnosed. ``beside``: samples of other entries, of which those are tried
    that hold words of a wanted one. ``shared``: the entries are to be shared, so they need a near miss, a translation
    and a reader, and must not be certain of words that anybody's code prints. ``probes``: folders of a team's own probes.
    """
    ids = sorted(wanted if wanted is not None else library.entries)
    roots = frozenset(library.entries[id_].folder.parent.parent for id_ in ids)
    found = static(library, ids, Loadable(tool, library, roots))
    faulty = {problem.path.parent for problem in library.problems}
    fired: dict[str, set[str]] = {}
    usable = [library.entries[id_] for id_ in ids if library.entries[id_].folder not in faulty]
    for item in usable:
        found += [*unshared(item), *unread(item)] if shared else []
        if item.entry.replaced_by is not None:
            continue  # it is retired: no log triggers it
        found += _match(item, tool, fired, shared)
        found += _no_match(item, tool)
        found += _unreached(item, fired.get(item.entry.id, set()))
        found += _twice(item, tool)
        found += [problem for problem in check_records(item.entry, item.folder, probes) if problem.fails]
    known = {item.entry.id: item.document.path for item in usable}
    if beside is not None:
        found += _on_neighbours(beside, tool, set(known))
    if healthy is not None and healthy.is_dir():
        logs = sorted(p for p in healthy.rglob("*") if p.suffix in (".log", ".txt", ".out", ".ipynb"))
        if beside is not None:
            logs = beside.holding(logs, set(known))
        found += silent_on(tool, logs, known)
    return sorted(set(found))


def notes(
    library: Library, tool: Diagnoser, wanted: Iterable[str], shared: bool = True, probes: Sequence[Path] = ()
) -> list[Problem]:
    """Notes that do not fail the check: claims without a record, records of an older probe, entries with similar messages
    (only if few are wanted), and what an entry lacks or claims too surely if it is not ``shared``."""
    items = [library.entries[id_] for id_ in sorted(wanted)]
    found: list[Problem] = []
    for item in items:
        found += [problem for problem in check_records(item.entry, item.folder, probes) if not problem.fails]
        found += [] if shared else [*unshared(item), *_too_certain(item, tool)]
        found += _alike(item, tool) if len(items) <= FEW else []
    return found


FEW = 3
"""Each wanted entry is compared with all others if at most this many are wanted."""


def _alike(item: Loaded, tool: Diagnoser) -> Iterator[Problem]:
    """Entries that may already have this cause, because their failures print the same words."""
    if (found := tool.knowledge.find(item.entry.id)) is None:
        return
    seen = {item.entry.id}
    for text in found[0]["printed"]:  # each line that one of its messages finds in its samples
        for near in nearest(tool.knowledge, text, limit=4):
            id_ = str(near["id"])
            if id_ not in seen and not related(tool.knowledge, item.entry.id, id_):
                said = f"prints what {id_} prints: {near['title']}"
                yield item.document.problem((), said, "the same cause? then make it a symptom of that entry")
            seen.add(id_)


def _twice(item: Loaded, tool: Diagnoser) -> Iterator[Problem]:
    """A problem if the entry's id is also used in another area of the same folder."""
    root, id_ = item.folder.parent.parent, item.entry.id
    for other in sorted(root.glob(f"*/{id_}/entry.yaml")):
        if other.parent.resolve() != item.folder.resolve():
            yield item.document.problem(("id",), f"id {id_!r} is taken by {other}", "ids are unique")


def _too_certain(item: Loaded, tool: Diagnoser) -> Iterator[Problem]:
    """Symptoms that are certain of words which anybody's code prints."""
    for sample in item.samples_of("match"):
        tried = try_log(tool, sample, whole=_about_the_end(item))
        for mine in tried.ranked:
            if mine.candidate.id == item.entry.id:
                yield from own_code.problems(item, tool, sample, mine)


def _match(item: Loaded, tool: Diagnoser, fired: dict[str, set[str]], shared: bool) -> Iterator[Problem]:
    entry = item.entry
    seen: set[int] = set()
    for sample in item.samples_of("match"):
        tried = try_log(tool, sample, whole=_about_the_end(item))
        mine = next((r for r in tried.ranked if r.candidate.id == entry.id), None)
        for candidate in tried.candidates:
            if candidate.id == entry.id:
                fired.setdefault(entry.id, set()).add(candidate.trial.symptom)
                fired[entry.id] |= _holding(tool, entry.id, tried.observations)
        if mine is None:
            yield item.sample_problem(sample, 0, f"is not diagnosed as {entry.id}", _why(tool, entry.id, tried))
            continue
        if shared:
            yield from own_code.problems(item, tool, sample, mine)
        if sample.evidence and sample.evidence != (shown := evidence_lines(mine)):
            text = f"the evidence is on {_lines(shown)}, marked is {_lines(sample.evidence)}"
            yield item.sample_problem(sample, sample.evidence[0], text, "if that is right: troubleshoot check --mark")
        shown_here = shown_fixes.shown(mine, tried.observations, tool.knowledge)
        if entry.fixes and not shown_here:
            text = "shows no fix: the `when` of each of them does not hold"
            yield item.sample_problem(
                sample, 0, text, "give the failure of this sample a fix, or mend the words of `when`"
            )
        seen |= shown_here
        yield from _others(item.samples_path, sample, entry.id, tried, tool)
    yield from shown_fixes.problems(item, seen)


def mark(item: Loaded, tool: Diagnoser) -> bool:
    """Mark the present lines of evidence in ``samples.log``. Returns True if the file was changed."""
    marked = []
    for sample in item.samples:
        if sample.kind == "match":
            tried = try_log(tool, sample, whole=_about_the_end(item))
            mine = next((r for r in tried.ranked if r.candidate.id == item.entry.id), None)
            sample = replace(sample, evidence=evidence_lines(mine) if mine is not None else ())
        marked.append(sample)
    if tuple(marked) == item.samples:
        return False
    item.samples_path.write_text(write(marked), encoding="utf-8")
    return True


def evidence_lines(found: Ranked) -> tuple[int, ...]:
    """The lines of a log that the required conditions of an answer point at. Crash facts are no line of it."""
    held = [outcome for outcome in found.candidate.trial.require if outcome.state == "held"]
    return tuple(sorted({shown.line.number for outcome in held for shown in outcome.evidence if shown.line.number}))


def _lines(numbers: Sequence[int]) -> str:
    return f"line {', '.join(map(str, numbers))}" if numbers else "no line"


def _others(
    path: Path, sample: EntrySample, owner: str, tried: Tried, tool: Diagnoser, about: set[str] | None = None
) -> Iterator[Problem]:
    """Wrong answers on a sample of ``owner`` by other entries. ``about``: only by these entries."""
    first = tried.ids[0] if tried.ids else ""
    if first and first != owner and (about is None or first in about):
        yield _at(path, sample, f"gives {first} before {owner}", "tell them apart by a condition")
    for other in tried.ids:
        if other != owner and (about is None or other in about) and not related(tool.knowledge, owner, other):
            hint = "declare it in not_to_confuse_with or overlaps, or tell them apart"
            yield _at(path, sample, f"gives {other} too", hint)


def _at(path: Path, sample: EntrySample, message: str, hint: str) -> Problem:
    return Problem(path, sample.line, 1, f"{sample.kind} {sample.name}", message, hint)


def _on_neighbours(beside: Neighbours, tool: Diagnoser, wanted: set[str]) -> Iterator[Problem]:
    """Wrong answers of the wanted entries on samples of other entries that contain their words."""
    for owner, path, sample in beside.samples(wanted):
        if tool.knowledge.owner(owner) is None or tool.knowledge.successor(owner) is not None:
            continue
        tried = try_log(tool, sample, whole=False)
        if owner not in tried.ids and wanted & {c.id for c in tried.candidates}:
            answer = ", ".join(sorted(wanted & {c.id for c in tried.candidates}))
            yield _at(path, sample, f"is not diagnosed as {owner}, but as {answer}", "tell them apart by a condition")
        else:
            yield from _others(path, sample, owner, tried, tool, wanted)


def _no_match(item: Loaded, tool: Diagnoser) -> Iterator[Problem]:
    for sample in item.samples_of("near-miss"):
        tried = try_log(tool, sample, whole=_about_the_end(item))
        if item.entry.id in tried.ids:
            text = f"gives {item.entry.id}, which it must not"
            yield item.sample_problem(sample, 0, text, "add the condition that tells it apart")
            continue
        if item.entry.id in {c.id for c in tried.candidates}:
            continue  # it holds, but a more specific answer replaces it
        found = tool.knowledge.find(item.entry.id)
        if found is None:
            continue
        explained = explain(*found, tried.observations, tool.knowledge)
        fewest = min((len(e.failing) for e in explained), default=99)
        if fewest > 1:
            text = f"is no near miss of {item.entry.id}: every symptom fails by {fewest} or more conditions"
            yield item.sample_problem(sample, 0, text, "take a log that fails by exactly one")
        elif fewest == 1 and not _holds_literal(tool, item.entry.id, sample.text):
            text = f"contains no words of {item.entry.id}"
            yield item.sample_problem(sample, 0, text, "a near miss contains a literal of the entry's patterns")


def _about_the_end(item: Loaded) -> bool:
    """True if an entry asks how the log ends. Samples of all other entries are excerpts, whose end means nothing."""
    return any(getattr(condition, "ends", None) is not None for _, condition in conditions(item.entry))


def _holds_literal(tool: Diagnoser, id_: str, log: str) -> bool:
    """True if a near miss contains a literal of one of the entry's patterns."""
    found = tool.knowledge.find(id_)
    assert found is not None
    text = fold(" ".join(line.text for line in read(from_text(log)))).lower()
    symptoms = found[0]["symptoms"]
    parts = [(c, part == "require") for part in ("require", "support", "exclude") for s in symptoms for c in s[part]]
    # If an entry uses words only to exclude something, its near misses need not contain any.
    asks_words = False
    while parts:
        condition, asked = parts.pop()
        for pattern in condition.get("patterns", []):
            asks_words |= asked
            if any(word in text for word in words(pattern["re"])):
                return True
        inner = [*condition.get("parts", []), *([condition["part"]] if "part" in condition else [])]
        parts += [(part, asked and condition["kind"] != "not") for part in inner]
    return not asks_words


def _holding(tool: Diagnoser, id_: str, observations: Observations) -> set[str]:
    found = tool.knowledge.find(id_)
    assert found is not None
    return {e.symptom for e in explain(*found, observations, tool.knowledge) if e.holds}


def _unreached(item: Loaded, fired: set[str]) -> Iterator[Problem]:
    for i, symptom in enumerate(item.entry.symptoms):
        if (name := symptom.name or str(i + 1)) not in fired:
            yield item.document.problem(
                ("symptoms", i), f"no sample shows symptom {name}", "add a sample on which it holds"
            )


def related(knowledge: Knowledge, me: str, other: str) -> bool:
    """Whether an entry may answer on another one's samples: one declares the other, or it is harmless, a cascade or the
    fallback for everything."""
    bodies = [found[0] for id_ in (me, other) if (found := knowledge.find(id_)) is not None]
    for body in bodies:
        declared = {x["entry"] for x in body["lookalikes"]["confused"]} | set(body["lookalikes"]["overlaps"])
        declared |= {*(body.get("fallback_for") or ()), body.get("variant_of")}
        if {me, other} - {body["id"]} <= declared:
            return True
    theirs = next((body for body in bodies if body["id"] == other), None)
    if theirs is None:
        return False
    return theirs["role"] == "cascade" or theirs["kind"] == "harmless" or theirs.get("fallback_for") == []


def silent_on(tool: Diagnoser, logs: Iterable[Path], known: Mapping[str, Path]) -> Iterator[Problem]:
    """False alarms: failures that entries in ``known`` (ids with their files) diagnose on healthy logs."""
    for path in logs:
        for ranked in try_log(tool, path).ranked:
            id_ = ranked.candidate.id
            if ranked.candidate.body["kind"] == "failure" and id_ in known:
                line = ranked.candidate.evidence[0].line.number if ranked.candidate.evidence else 1
                yield Problem(path, line, 1, "", f"a healthy log is diagnosed as {id_}", f"see {known[id_]}")


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
