"""Find out for each symptom which releases print its words, whether its source says so too, and what else prints them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

from kb.compiled_conditions import own_patterns, patterns_of
from kb.form import Entry, EntrySource, Symptom
from kb.index.fit import fit
from kb.index.message import IndexedMessage
from kb.index.store import PYTHONS_OWN
from kb.load import Loaded
from kb.proof.citation import contradiction, files_of, newer_than_index, order
from kb.proof.places import Places, Printer, finds
from kb.proof.rivals import at_home, is_shown, rivals_of
from kb.proof.symptom_proof import PrintingPackage, State, SymptomProof

RAISING = ("raise", "assert", "check", "exit", "compiled")
_THREAD = re.compile(
    r"/(?:issues?|pulls?|discussions|merge_requests|t|topics?|questions|comments)/|/-/issues|stackoverflow|stackexchange"
)
"""What the address of a thread contains, in which people report a failure that they met."""
MOST_SHOWN = 6
_FRAME = re.compile(r'^(?:\S{1,40} ){0,3}?File ".{1,400}", line \d{1,9}, in ')
"""A frame of a traceback, with folded white space. The line below it is code."""
_KEY = re.compile(r"^(?:[\w.]{0,80}KeyError: )?'[^']{1,120}'$")
_OF_MESSAGES = frozenset({"message", "line", "frame", "version", "package", "any", "all", "not"})
"""Kinds of conditions that a message may fulfil: by its words, its file or its package. All other kinds, new ones too, tell
messages of the same words apart."""


def prove(
    item: Loaded, places: Places, index_digest: str, known: Mapping[tuple[str, str], SymptomProof]
) -> Iterator[SymptomProof]:
    """The proofs of an entry's symptoms. Those in ``known`` are used again if nothing that they depend on has changed."""
    samples = [sample.text for sample in item.samples_of("match")]
    for number, symptom in enumerate(item.entry.symptoms, 1):
        name = symptom.name or str(number)
        threads = threads_of(item.entry, symptom)
        digest = digest_of(symptom, samples, threads, index_digest)
        kept = known.get((item.entry.id, name))
        if kept is not None and kept.digest == digest:
            yield kept
        else:
            yield _prove(item.entry.id, name, digest, symptom, samples, threads, places)


def threads_of(entry: Entry, symptom: Symptom) -> list[str]:
    """The threads in which people met the symptom: its own source, and those of the entry's sources that show a symptom."""
    sources = [symptom.source, *(source for source in entry.sources if "symptom" in source.shown)]
    return sorted({_address(source.url) for source in sources if source.url and _THREAD.search(source.url)})


def _address(url: str) -> str:
    """One address for all places of a thread, and for a pull request that is addressed as an issue."""
    return url.partition("#")[0].partition("?")[0].rstrip("/").lower().replace("/pull/", "/issues/")


def digest_of(symptom: Symptom, samples: Sequence[str], threads: Sequence[str], index_digest: str) -> str:
    """A digest of what a proof of the symptom depends on."""
    shown = symptom.model_dump(mode="json", exclude={"decisive"})
    said = json.dumps([shown, samples, threads, index_digest], sort_keys=True)
    return hashlib.blake2b(said.encode(), digest_size=6).hexdigest()


def _prove(
    id_: str, name: str, digest: str, symptom: Symptom, samples: Sequence[str], threads: Sequence[str], places: Places
) -> SymptomProof:
    conditions: list[Any] = [condition.compile(lambda _: 0) for condition in symptom.require]
    lines = [" ".join(line.split()) for text in samples for line in text.splitlines()]
    code = {line for above, below in pairwise(lines) if _FRAME.match(above) for line in (above, below)}
    code.update(line for line in lines if line.startswith(("assert ", "raise ")))
    worded = [found for condition in conditions if (found := _printers(condition, lines, code, places)) is not None]
    every = [printer for found in worded for printer in found]
    said = [line for condition in conditions for line in _said(condition, lines)]
    source, state = symptom.source, "printed"
    cited = [package for word in re.split(r"[,\s]+", source.package or "") if (package := places.index.package(word))]
    own = [printer for printer in every if printer.message.package in cited] if source.package else every
    wrong = ""
    alone = not (source.package or source.run) and len(threads) == 1 and _THREAD.search(source.url or "") is not None
    if alone and not own:
        state = "thread"
    elif not worded:
        state = "no-words"
    elif not own and any(map(_is_pythons_own, said)):
        state = "python"
    elif not own and (others := [printer for printer in every if _is_named(printer, said)]):
        state, own = "elsewhere", others
    elif source.package and not cited:
        state = "not-indexed"
    elif not own:
        state = _shown_by(source, cited, places)
    elif source.package and (newest := newer_than_index(source.versions or "", cited, places)):
        wrong = newest
    elif source.package and not _ambiguous(own, every, said):
        wrong = contradiction(own, source.file or "", source.versions or "", places)
    rivals: tuple[str, ...] = ()
    if len(worded) == 1 and all(own_patterns(c) or c["kind"] in _OF_MESSAGES for c in conditions):
        excluded = [condition.compile(lambda _: 0) for condition in symptom.exclude]
        home = at_home(own, source.file or "", samples)
        foreign = [printer for printer in worded[0] if not is_shown(printer.message.package, samples)]
        rivals = tuple(sorted(set(rivals_of(foreign, home, conditions, excluded, places))))[:MOST_SHOWN]
    return SymptomProof(id_, name, digest, state, _told(own), wrong, rivals)  # type: ignore[arg-type]


def _said(condition: Any, lines: Sequence[str]) -> Iterator[str]:
    """The lines of the samples that a pattern of the condition matches, with or without the exception's name in front."""
    for pattern in patterns_of(condition):
        yield from (
            line for line in lines if any(finds(pattern["re"], text) for text in (line, line.partition(": ")[2]))
        )


def _is_named(printer: Printer, said: Sequence[str]) -> bool:
    """Whether a line of the samples is the message: at least half of it must agree."""
    return any(
        (agreed := fit(text, printer.literals)) is not None and agreed.quality >= 0.5 * len(text.replace(" ", ""))
        for line in said
        for text in (line, line.partition(": ")[2])
        if text
    )


def _is_pythons_own(line: str) -> bool:
    """Whether Python itself prints the line. A bare quoted name is the key of a failed look-up (KeyError)."""
    return PYTHONS_OWN.search(line) is not None or _KEY.search(line) is not None


def _printers(condition: Any, lines: Sequence[str], code: Set[str], places: Places) -> list[Printer] | None:
    """The messages whose words fulfil a condition; None if the condition asks for no words. ``code``: lines of source that
    tracebacks quote; they are no messages."""
    kind = condition["kind"]
    if given := own_patterns(condition):
        if kind != "message" and (quoted := list(_said(condition, lines))) and code >= set(quoted):
            return []
        found: dict[int, Printer] = {}
        for pattern in given:
            said = [line for line in lines if finds(pattern["re"], line)][:6]
            said += [line.partition(": ")[2] for line in said if ": " in line]
            for printer in places.printers(pattern["re"], said):
                if _can_fulfil(condition, printer):
                    found[id(printer)] = printer
        return list(found.values())
    if kind == "any" or kind == "all":
        parts = [one for part in condition["parts"] if (one := _printers(part, lines, code, places)) is not None]
        return [printer for part in parts for printer in part] if parts else None
    return None


def _can_fulfil(condition: Any, printer: Printer) -> bool:
    names = condition.get("exception") or []
    if not names:
        return True
    raised = printer.message.exception
    if printer.message.kind not in RAISING:
        return False
    return raised is None or raised.rpartition(".")[2] in names


def _shown_by(source: EntrySource, cited: Sequence[str], places: Places) -> State:
    if source.url:
        return "threads" if _THREAD.search(source.url) else "page"
    return "run" if source.run else _why(source.file or "", cited, places)


def _why(file: str, cited: Sequence[str], places: Places) -> State:
    return (
        "no-message"
        if any(places.has_file(package, part) for package in cited for part in files_of(file))
        else "no-file"
    )


def _ambiguous(own: Sequence[Printer], every: Sequence[Printer], said: Sequence[str]) -> bool:
    """Whether Python, compiled code or another package may print the words, too. Then it proves nothing that the cited file or
    release lacks them."""
    return (
        any(map(_is_pythons_own, said))
        or any(printer.message.kind == "compiled" for printer in own)
        or any(printer.message.package not in {one.message.package for one in own} for printer in every)
    )


def _told(own: Sequence[Printer]) -> tuple[PrintingPackage, ...]:
    by_package: dict[str, list[IndexedMessage]] = {}
    for printer in own:
        by_package.setdefault(printer.message.package, []).append(printer.message)
    return tuple(
        PrintingPackage(
            package, _union(messages), tuple(sorted({site.file for one in messages for site in one.sites}))[:4]
        )
        for package, messages in sorted(by_package.items())
    )[:MOST_SHOWN]


def _union(messages: Sequence[IndexedMessage]) -> tuple[tuple[str, str], ...]:
    ends = [pair for one in messages for pair in one.releases]
    return ((min((a for a, _ in ends), key=order), max((b for _, b in ends), key=order)),) if ends else ()
