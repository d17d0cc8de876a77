"""Static checks of entries: everything that can be checked without running them. All problems are reported at once,
each with its place.

`troubleshooter.check`, which knows the program, tries whether samples fire and near misses stay silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rich.cells import cell_len

from kb.check_fixes import cut_off, mislabelled, open_blanks, unpasteable
from kb.check_references import KnownNames, OfLibrary, aliases, references
from kb.check_translations import differing
from kb.conditions.frame import FrameForm
from kb.form import Entry
from kb.form_texts import own_wordings, texts
from kb.load import Library, Loaded, conditions, english_hash
from kb.patterns import groups
from kb.placeholders import HOLE, TYPES
from kb.problem import Problem
from kb.proof.frames import vague
from kb.summaries import repeats
from kb.text.catalog import Section, language, languages

_MARKS = sorted({Section("drafts")("unwritten", code) for code in languages()})
UNWRITTEN = re.compile(
    "|".join(rf"\b{mark}\b" if mark.isascii() else mark for mark in _MARKS)
    + r"|https?://(?:www\.)?example\.(?:org|com|net)\b"
)
"""Texts that a draft holds where its author still has to write."""
MAX_TITLE_CELLS = 80
"""The widest title, its placeholders filled with their defaults; a Chinese character takes two cells."""
PLACEHOLDER_CELLS = 6
"""The width that is assumed for a placeholder without a default."""
_EATS = re.compile(r"(?<!\\)\.\?\(\?P<(\w+)>(?:\(\?:)?(?:\\[wdS]|\.|\[(?:\^|[^\]]*(?:\\[wdS]|[aA0]-)))")
"""Any character, or none, before a capture that may begin with a letter."""


def check(library: Library, wanted: Iterable[str] | None = None, known: KnownNames | None = None) -> list[Problem]:
    """Problems of the entries (all, or the ``wanted`` ids). ``known``: what they may refer to (default: the library)."""
    found = list(library.problems)
    known = known or OfLibrary(library)
    for id_ in sorted(wanted if wanted is not None else library.entries):
        item = library.entries[id_]
        found += [*_samples(item), *_stale(item), *differing(item), *references(item, known), *_placeholders(item)]
        found += [
            *aliases(item, known),
            *_titles(item),
            *_unwritten(item),
            *_unsafe(item),
            *_eating(item),
            *unpasteable(item),
            *mislabelled(item),
            *cut_off(item),
        ]
    return sorted(found)


def unshared(item: Loaded) -> list[Problem]:
    """Problems of an entry that is to be shared: it needs a near miss, a translation, frames that name a place and commands
    that leave nothing open. A team's own entry may do without. A retired entry needs no samples, because its successor has
    them."""
    found = [*_vague_frames(item), *open_blanks(item)]
    if not item.samples_of("near-miss") and item.entry.replaced_by is None:
        text = "has no near miss in samples.log"
        found.append(
            item.document.problem((), text, "add a log that contains words of this entry and has another cause")
        )
    for code in languages():
        if language(code).every_entry and code not in item.translations:
            found.append(item.document.problem((), f"has no {code}.yaml", "translate title, cause and fixes"))
    return found


def _vague_frames(item: Loaded) -> Iterator[Problem]:
    """Frames that paths of other programs have, too."""
    for place, condition in conditions(item.entry):
        if isinstance(condition, FrameForm):
            for said in vague(condition):
                yield item.document.problem((*place, "frame"), said)


def unread(item: Loaded) -> list[Problem]:
    """The problem of a shared entry that nobody has tried to refute, and that does not call itself a draft."""
    if item.entry.reviewed is not None or item.entry.status is not None or item.entry.replaced_by is not None:
        return []
    text = "has neither `reviewed` nor `status: draft`"
    step = (
        "try to refute it (docs/writing-entries.md) and add the date, or call it a draft, which is never above possible"
    )
    return [item.document.problem((), text, step)]


def _eating(item: Loaded) -> Iterator[Problem]:
    """Patterns that take the first letter of a value for the quote that may stand before it."""
    for place, pattern, _ in texts(item.entry):
        for found in _EATS.finditer(pattern):
            message = f"`.?` takes the first letter of <<{found[1]}>> where no quote stands before it"
            yield item.document.problem(place, message, "write [^\\w/]? for the character that may be missing")


def _samples(item: Loaded) -> Iterator[Problem]:
    if not item.samples_of("match") and item.entry.replaced_by is None:
        text = "has no sample to match in samples.log"
        yield item.document.problem((), text, "add a log that must give this answer, below '=== match NAME'")


def _stale(item: Loaded) -> Iterator[Problem]:
    now = english_hash(item.entry)
    for code, text in item.translations.items():
        if text.of != now:
            yield item.translated[code].document.problem(
                ("of",),
                "is not the hash of the English text",
                "review the translation, then: troubleshoot check --stamp",
            )


def title_cells(title: str) -> int:
    """How wide a title is on a terminal, its placeholders filled with their defaults."""
    filled = HOLE.sub(lambda found: "x" * PLACEHOLDER_CELLS if found["default"] is None else found["default"], title)
    return cell_len(filled)


def _titles(item: Loaded) -> Iterator[Problem]:
    """Problems of titles: one must be short, and a summary must not repeat title or cause."""
    texts = [(item.document, item.entry.title, item.entry.summary, item.entry.cause)]
    texts += [
        (one.document, one.text.title, one.text.summary, one.text.cause)
        for one in item.translated.values()
        if one.text is not None
    ]
    if repeats(item.entry):
        said, step = "says only what title, cause, fixes and symptoms say", "take it out, also of the translations"
        yield item.document.problem(("summary",), said, step)
    for document, title, summary, cause in texts:
        if (cells := title_cells(title)) > MAX_TITLE_CELLS:
            text = f"is {cells} characters wide, {MAX_TITLE_CELLS} at most"
            yield document.problem(("title",), text, "say what failed and why; the rest belongs into `summary`")
        if summary is not None and (summary.strip() == title.strip() or cause.startswith(summary.strip())):
            yield document.problem(("summary",), "repeats the title or the cause", "take it out")


def _unwritten(item: Loaded) -> Iterator[Problem]:
    """Places of a draft that its author has not filled in."""
    for document in item.documents:
        for place, text in _texts(document.value):
            if found := UNWRITTEN.search(text):
                yield document.problem(place, f"is still to be written: {found[0]}", "fill it in, or take the line out")


def _unsafe(item: Loaded) -> Iterator[Problem]:
    for document in item.documents:
        for place, character in document.unsafe.items():
            text = f"holds the control or bidirectional character U+{ord(character):04X}"
            yield document.problem(place, text, "take it out; in a pattern write it as \\x1b or \\x{202e}")
    if item.area != item.folder.parent.name:
        yield item.document.problem(
            (), f"the area's name holds a control character: {item.area!r}", "rename the folder"
        )


def _texts(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text of a document, with its place."""
    if isinstance(value, str):
        yield place, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        yield from _texts(part, (*place, key))


def _placeholders(item: Loaded) -> Iterator[Problem]:
    """Problems of placeholders: a title, summary or cause must be complete for every symptom, and types must be known."""
    captured = [_captures(item.entry, i) for i in range(len(item.entry.symptoms))]
    for name in ("title", "summary", "cause"):
        for found in HOLE.finditer(getattr(item.entry, name) or ""):
            if found["default"] is None and not all(c is None or found["name"] in c for c in captured):
                text = f"<<{found['name']}>> is not captured by every symptom"
                yield item.document.problem((name,), text, f"give it a default: <<{found['name']}:type|words>>")
    texts = [(name, getattr(item.entry, name) or "") for name in ("title", "summary", "cause")]
    texts += [("fixes", t) for fix in item.entry.fixes for t in (fix.do, fix.why, fix.code, fix.shell) if t]
    for name, text in texts:
        for found in HOLE.finditer(text):
            if found["type"] and found["type"] not in TYPES:
                yield item.document.problem(
                    (name,), f"unknown type in {found[0]}", f"one of {', '.join(sorted(TYPES))}"
                )


def _captures(entry: Entry, number: int) -> set[str] | None:
    """The names that a symptom captures in every match; None if it takes a row of a table, which captures any column."""
    found: set[str] = set()
    for place, condition in conditions(entry):
        if place[:3] != ("symptoms", number, "require"):
            continue
        if getattr(condition, "row", None):
            return None
        if given := own_wordings(condition):
            found |= set.intersection(*(groups(p) for p in given))
    return found
