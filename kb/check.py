"""Static checks of entries: what can be said without running them. All problems at once, each with its place.

Whether samples fire and near misses stay silent is tried by `troubleshooter.check`, which knows the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kb.form import Entry
from kb.load import Library, Loaded, conditions, english_hash
from kb.patterns import groups
from kb.placeholders import HOLE, TYPES
from kb.problem import Problem

AREAS = frozenset(
    [
        "precision",
        "training",
        "harmless",
        "adapters",
        "quantization",
        "checkpoints",
        "memory",
        "cuda",
        "kernels",
        "distributed",
        "models",
        "tokenizers",
        "data",
        "trainers",
        "rl",
        "hub",
        "environment",
    ]
)


def check(library: Library, wanted: Iterable[str] | None = None) -> list[Problem]:
    """Problems of the entries (all, or the ``wanted`` ids)."""
    found = list(library.problems)
    for id_ in sorted(wanted if wanted is not None else library.entries):
        item = library.entries[id_]
        found += [*_samples(item), *_translation(item), *_references(item, library), *_placeholders(item, library)]
    return sorted(found)


def _samples(item: Loaded) -> Iterator[Problem]:
    if not item.samples("match"):
        yield item.document.problem((), "has no sample in match/", "add a log that must give this answer")
    if not item.samples("no_match"):
        yield item.document.problem(
            (), "has no near miss in no_match/", "add a log that holds a literal of it and is something else"
        )


def _translation(item: Loaded) -> Iterator[Problem]:
    if item.chinese is None or item.chinese_document is None:
        yield item.document.problem((), "has no zh.yaml", "translate title, cause and fixes")
        return
    if item.chinese.of != english_hash(item.entry):
        yield item.chinese_document.problem(
            ("of",), "is not the hash of the English text", "review the translation, then: troubleshoot check --stamp"
        )


def _references(item: Loaded, library: Library) -> Iterator[Problem]:
    entry = item.entry
    named: list[tuple[tuple[str | int, ...], str]] = [
        (("not_to_confuse_with", i, "entry"), other.entry) for i, other in enumerate(entry.not_to_confuse_with)
    ]
    named += [(("overlaps", i, "entry"), other.entry) for i, other in enumerate(entry.overlaps)]
    named += [(("fallback_for", i), other) for i, other in enumerate(entry.fallback_for or [])]
    if entry.variant_of:
        named.append((("variant_of",), entry.variant_of))
    for place, other in named:
        if other not in library.entries:
            yield item.document.problem(place, f"names no entry: {other!r}", _near(other, library.entries))
        elif other == entry.id:
            yield item.document.problem(place, "names the entry itself", "take it out")
    for place, condition in conditions(entry):
        table = getattr(condition, "row", None)
        if table and not _table(table, library):
            yield item.document.problem((*place, "row"), f"names no table: {table!r}", _near(table, library.tables))


def _table(name: str, library: Library) -> bool:
    return name in library.tables or (name.endswith("*") and any(t.startswith(name[:-1]) for t in library.tables))


def _placeholders(item: Loaded, library: Library) -> Iterator[Problem]:
    """A title or cause must be sayable for every symptom; types must be known."""
    captured = [_captures(item.entry, i) for i in range(len(item.entry.symptoms))]
    for name in ("title", "cause"):
        for found in HOLE.finditer(getattr(item.entry, name)):
            if found["default"] is None and not all(c is None or found["name"] in c for c in captured):
                text = f"<<{found['name']}>> is not captured by every symptom"
                yield item.document.problem((name,), text, f"give it a default: <<{found['name']}:type|words>>")
    texts = [("title", item.entry.title), ("cause", item.entry.cause)]
    texts += [("fixes", t) for fix in item.entry.fixes for t in (fix.do, fix.why, fix.code, fix.shell) if t]
    for name, text in texts:
        for found in HOLE.finditer(text):
            if found["type"] and found["type"] not in TYPES:
                yield item.document.problem(
                    (name,), f"unknown type in {found[0]}", f"one of {', '.join(sorted(TYPES))}"
                )


def _captures(entry: Entry, number: int) -> set[str] | None:
    """Names that a symptom surely captures; None when it takes a table's row (any column)."""
    found: set[str] = set()
    for place, condition in conditions(entry):
        if place[:3] != ("symptoms", number, "require"):
            continue
        if getattr(condition, "row", None):
            return None
        for name in ("message", "line"):
            given = getattr(condition, name, None)
            if isinstance(given, str):
                found |= groups(given)
            elif given:
                found |= set.intersection(*(groups(p) for p in given))
    return found


def _near(word: str, known: Iterable[str]) -> str:
    from rapidfuzz import process

    found = process.extractOne(word, list(known), score_cutoff=60)
    return f"did you mean {found[0]!r}?" if found else "write that entry first, or take the name out"
