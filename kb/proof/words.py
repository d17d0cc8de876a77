"""Which releases print the words of each symptom, whether that is what its source says, and who else prints them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatch
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from kb.compiled_conditions import patterns_of
from kb.form import Entry, EntrySource, Symptom
from kb.index.fit import fit
from kb.index.record import MOST_SITES
from kb.index.store import PYTHONS_OWN, IndexedMessage
from kb.load import Loaded
from kb.proof.places import HOLE_MARK, Places, Printer, finds
from kb.versions import release

State = Literal[
    "printed", "python", "elsewhere", "not-indexed", "no-file", "no-message", "thread", "threads", "page", "run", "no-words"
]  # fmt: skip
"""What the index says of a symptom's words.

``printed``      a message of a package has them (of the cited one, where a package is cited)
``python``       Python itself prints them about code of the cited file ("has no attribute", "unexpected keyword argument")
``elsewhere``    another package than the cited one prints them: the cited file calls it
``not-indexed``  the cited package is not in the index
``no-file``      the index has no message of the cited file: compiled code, a template, a script
``no-message``   the cited file has messages, and none has these words: they are put together when it runs
``thread``       one thread alone shows the failure, and no package prints these words: Python's own words say little about it
``threads``, ``page``, ``run``  no message of the index has these words; two or more threads, a page that is no thread
                 (documentation, source), or a run shows them
``no-words``     the symptom asks for no words, or for words of everyday use
"""
RAISING = ("raise", "assert", "check", "exit", "compiled")
_THREAD = re.compile(
    r"/(?:issues?|pulls?|discussions|merge_requests|t|topics?|questions|comments)/|/-/issues|stackoverflow|stackexchange"
)
"""What the address of a thread contains: people who met a failure wrote there."""
SAME_TEXT = 30
"""Literal characters from which on an equal text in another place is a copy, and means the same."""
MOST_SHOWN = 6
FAMILIES = ("unsloth", "lightning")
"""What the names of a project's packages have in common."""
_VERSION = re.compile(r"(?<![\w.])\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?(?:post|dev|rc)\d+)?(?![\w.])")
_FRAME = re.compile(r'^(?:\S{1,40} ){0,3}?File ".{1,400}", line \d{1,9}, in ')
"""A frame of a traceback, with its white space folded. The line below it is code."""
_KEY = re.compile(r"^(?:[\w.]{0,80}KeyError: )?'[^']{1,120}'$")
_TELLING_APART = frozenset({"metric", "gpu", "flag", "platform", "exit", "ends", "ranks", "phase", "relation", "row"})
"""Kinds of conditions that no other message fulfils by its words."""


class PrintingPackage(NamedTuple):
    """A package that prints a symptom's words, with the first and the last release of each run, and the files."""

    package: str
    releases: tuple[tuple[str, str], ...]
    files: tuple[str, ...]


class SymptomProof(NamedTuple):
    """What the index says of one symptom."""

    entry: str
    symptom: str
    digest: str
    """Of what the answer depends on: the symptom, the samples, the index."""
    state: State
    printed: tuple[PrintingPackage, ...]
    wrong: str
    """What of the citation does not hold, in a sentence; "" where it holds or cannot be checked."""
    rivals: tuple[str, ...]
    """Other places that print these words, as ``package: file: function``."""


def prove(
    item: Loaded, places: Places, index_digest: str, known: Mapping[tuple[str, str], SymptomProof]
) -> Iterator[SymptomProof]:
    """The proofs of an entry's symptoms; those in ``known`` that still hold are taken over."""
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
    """What a proof of the symptom depends on, in short."""
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
    elif source.package and (newest := _beyond(source.versions or "", cited, places)):
        wrong = newest
    elif source.package and not _ambiguous(own, every, said):
        wrong = _wrong(own, source.file or "", source.versions or "", places)
    rivals: tuple[str, ...] = ()
    if len(worded) == 1 and not any(condition["kind"] in _TELLING_APART for condition in conditions):
        excluded = [condition.compile(lambda _: 0) for condition in symptom.exclude]
        at_home = _at_home(own, source.file or "", samples)
        foreign = [printer for printer in worded[0] if not _is_shown(printer.message.package, samples)]
        rivals = tuple(sorted(set(_rivals(foreign, at_home, conditions, excluded, places))))[:MOST_SHOWN]
    return SymptomProof(id_, name, digest, state, _told(own), wrong, rivals)  # type: ignore[arg-type]


def _said(condition: Any, lines: Sequence[str]) -> Iterator[str]:
    """The lines of the samples that the patterns of a condition find, in the whole line or behind the exception's name."""
    for pattern in patterns_of(condition):
        yield from (
            line for line in lines if any(finds(pattern["re"], text) for text in (line, line.partition(": ")[2]))
        )


def _is_named(printer: Printer, said: Sequence[str]) -> bool:
    """Whether a sample's line is the message: enough of it to name its place."""
    return any(
        (agreed := fit(text, printer.literals)) is not None and agreed.quality >= 0.5 * len(text.replace(" ", ""))
        for line in said
        for text in (line, line.partition(": ")[2])
        if text
    )


def _is_pythons_own(line: str) -> bool:
    """Whether Python prints the line by itself. A bare quoted name is the key that a look-up did not find."""
    return PYTHONS_OWN.search(line) is not None or _KEY.search(line) is not None


def _printers(condition: Any, lines: Sequence[str], code: Set[str], places: Places) -> list[Printer] | None:
    """The messages that fulfil a condition by their words; None where it asks for none. A line of ``code``, which a traceback
    quotes, is no message."""
    kind = condition["kind"]
    if kind == "line" and (quoted := list(_said(condition, lines))) and code >= set(quoted):
        return []
    if kind == "message" or kind == "line":
        if not condition["patterns"]:
            return None
        found: dict[int, Printer] = {}
        for pattern in condition["patterns"]:
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
        "no-message" if any(places.has_file(package, part) for package in cited for part in _files(file)) else "no-file"
    )


def _files(cited: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,;\s]+", cited) if "." in part]


def _in_file(file: str, part: str) -> bool:
    return file == part or fnmatch(file, f"*/{part}") or part.endswith(f"/{file}")


def _ambiguous(own: Sequence[Printer], every: Sequence[Printer], said: Sequence[str]) -> bool:
    """Whether the words may come from elsewhere, so that a file or release that lacks them proves nothing: from Python, from
    compiled code that the cited file calls, or from another package."""
    return (
        any(map(_is_pythons_own, said))
        or any(printer.message.kind == "compiled" for printer in own)
        or any(printer.message.package not in {one.message.package for one in own} for printer in every)
    )


def _wrong(own: Sequence[Printer], file: str, versions: str, places: Places) -> str:
    """What of a citation the index contradicts: only releases that it read, or of which it read a sister, are judged."""
    python = [part for part in _files(file) if part.endswith(".py")]
    judged = [(version, found) for version in _VERSION.findall(versions) if (found := _read(version, own, places))]
    if not judged:
        return ""
    sites = {
        site.file for printer in own for site in printer.message.sites if _holds(printer, site.spans, judged, places)
    }
    many = any(len(printer.message.sites) >= MOST_SITES for printer in own)  # of more places the index keeps the first
    if python and sites and not many and not any(_in_file(site, part) for site in sites for part in python):
        return f"{', '.join(python)} has no message with these words; {', '.join(sorted(sites)[:4])} has"
    lacking = [
        version for version, found in judged if not any(_holds(p, None, [(version, found)], places) for p in own)
    ]
    if lacking:
        first, last = _span(own, places)
        return f"release {', '.join(lacking)} does not print these words; {first} to {last} do"
    return ""


def _beyond(versions: str, cited: Sequence[str], places: Places) -> str:
    """A cited release above the newest that the index knows: nobody can have read it when the index was made."""
    newest = [max(names, key=_order) for package in cited if (names := places.index.releases(package))]
    above = [v for v in _VERSION.findall(versions) if newest and all(_order(v)[0] > _order(n)[0] for n in newest)]
    return f"release {', '.join(above)} is newer than any that the index read ({', '.join(newest)})" if above else ""


def _read(version: str, own: Sequence[Printer], places: Places) -> dict[str, int]:
    """By package the number of the release that stands for a version: itself, or one of the same minor version."""
    found: dict[str, int] = {}
    for package in {printer.message.package for printer in own}:
        for number, name in enumerate(places.index.releases(package)):
            if _order(name)[0][:2] == _order(version)[0][:2]:
                found[package] = number
                if name == version:
                    break
    return found


def _holds(
    printer: Printer,
    spans: Sequence[tuple[int, int]] | None,
    judged: Sequence[tuple[str, Mapping[str, int]]],
    places: Places,
) -> bool:
    """Whether one of the releases prints a message (``spans``: at this place)."""
    message = printer.message
    if message.kind == "compiled":  # of other releases than the package's own sources
        return True
    names = list(places.index.releases(message.package))
    ranges = spans or [(names.index(a), names.index(b)) for a, b in message.releases if a in names and b in names]
    return any(
        begin <= found[message.package] <= end
        for _, found in judged
        if message.package in found
        for begin, end in ranges
    )


def _span(own: Sequence[Printer], places: Places) -> tuple[str, str]:
    ends = [pair for printer in own for pair in printer.message.releases]
    return min((a for a, _ in ends), key=_order, default="?"), max((b for _, b in ends), key=_order, default="?")


def _order(version: str) -> tuple[Any, int]:
    try:
        return release(version)
    except ValueError:
        return ((0,), -1)


def _some(texts: Iterable[str]) -> str:
    found = sorted(texts)
    return ", ".join(found[:3]) + (" and others" if len(found) > 3 else "")


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
    return ((min((a for a, _ in ends), key=_order), max((b for _, b in ends), key=_order)),) if ends else ()


def _at_home(own: Sequence[Printer], file: str, samples: Sequence[str]) -> list[Printer]:
    """The messages that the entry is about: of the cited file, else of a file that a sample's traceback names, else all."""
    files = _files(file)
    cited = [p for p in own if any(_in_file(site.file, part) for site in p.message.sites for part in files)]
    if cited:
        return cited
    shown = [p for p in own if any(site.file in text for site in p.message.sites for text in samples)]
    return shown or list(own)


def _is_shown(package: str, samples: Sequence[str]) -> bool:
    """Whether a sample of the entry names the package: the entry is about its message, too."""
    return any(re.search(rf"\b{re.escape(package)}\b", text) for text in samples)


def _rivals(
    found: Sequence[Printer],
    home: Sequence[Printer],
    conditions: Sequence[Any],
    excluded: Sequence[Any],
    places: Places,
) -> Iterator[str]:
    """Places of other packages that print the words for a reason of their own, and that nothing else that is asked for rules
    out. A copy of the same code has the same function, condition or text, and means the same."""
    functions = {name for printer in home for name in printer.function_names}
    guards = {guard for printer in home for guard in printer.guards}
    texts = {printer.text for printer in home if len(printer.text) >= SAME_TEXT}
    packages = {_family(printer.message.package) for printer in home}
    patterns = [pattern["re"] for condition in conditions for pattern in patterns_of(condition)]
    for printer in found:
        message = printer.message
        if _family(message.package) in packages or PYTHONS_OWN.search(printer.text.replace(HOLE_MARK, "x")):
            continue
        if printer.function_names & functions or printer.guards & guards or printer.text in texts:
            continue
        if any(f"/{package}/" in site.file for package in packages for site in message.sites):
            continue  # a package that brings a copy of another one
        if not any(printer.can_print(pattern) for pattern in patterns):
            continue
        if all(_may_hold(condition, printer, places) for condition in conditions) and not any(
            _rules_out(condition, printer) for condition in excluded
        ):
            site = message.sites[0]
            yield (
                f"{message.package}: {site.file}: {site.function}"
                if site.function
                else f"{message.package}: {site.file}"
            )


def _family(package: str) -> str:
    """One name for packages of one project, which share their code."""
    return next((family for family in FAMILIES if family in package), package)


def _may_hold(condition: Any, printer: Printer, places: Places) -> bool:
    kind, message = condition["kind"], printer.message
    if kind == "frame":
        return any(path in site.file or site.file in path for path in condition["paths"] for site in message.sites)
    if kind == "package":
        return any(places.index.package(name) == message.package for name in condition["names"])
    if kind == "version":
        return any(places.index.package(name) == message.package for name in condition["version"])
    if kind == "all":
        return all(_may_hold(part, printer, places) for part in condition["parts"])
    if kind == "any":
        return any(_may_hold(part, printer, places) for part in condition["parts"])
    return kind != "not" or not _rules_out(condition["part"], printer)


def _rules_out(condition: Any, printer: Printer) -> bool:
    """Whether a condition that excludes holds for a message: by its words, its file."""
    kind = condition["kind"]
    if kind == "frame":
        return any(path in site.file for path in condition["paths"] for site in printer.message.sites)
    if kind == "message" or kind == "line":
        return any(printer.can_print(pattern["re"]) for pattern in condition["patterns"])
    if kind == "any" or kind == "all":
        return any(_rules_out(part, printer) for part in condition["parts"])
    return False
