"""Turns folders of entries into typed entries, and reports all problems of all files at once.

``python -m kb.load DIR…`` prints the problems of form and pattern; ``troubleshoot check`` also tries the samples.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kb import form_texts, source
from kb.clean import clean
from kb.conditions import KINDS
from kb.conditions.base import ConditionForm, Part
from kb.files import Refused, contents
from kb.form import Entry, Translation
from kb.nearest import did_you_mean
from kb.problem import EntryError, Problem
from kb.samples import FILE, EntrySample, InvalidSamples, Kind, parse
from kb.source import Document, Place

TABLES = "tables"
TRANSLATIONS = "[a-z][a-z].yaml"
"""The names of files that translate an entry: the two-letter code of the language."""
MAX_SAMPLES_BYTES = 8 << 20
"""The largest file of samples."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A file that translates an entry. ``text`` is None if the file does not have the form."""

    document: Document
    text: Translation | None


@dataclass(frozen=True, slots=True)
class Loaded:
    """An entry with its folder, its area (the folder above), and its translations by the code of their language."""

    entry: Entry
    document: Document
    translated: Mapping[str, Translated] = field(default_factory=dict)
    samples: tuple[EntrySample, ...] = ()

    @property
    def translations(self) -> dict[str, Translation]:
        """The translations that have the form, by the code of their language."""
        return {code: one.text for code, one in self.translated.items() if one.text is not None}

    @property
    def documents(self) -> list[Document]:
        """The files that an author writes: the entry and its translations."""
        return [self.document, *(one.document for one in self.translated.values())]

    @property
    def folder(self) -> Path:
        return self.document.path.parent

    @property
    def area(self) -> str:
        return clean(self.folder.parent.name)

    @property
    def samples_path(self) -> Path:
        return self.folder / FILE

    def samples_of(self, kind: Kind) -> list[EntrySample]:
        """The samples of one kind, in the order of the file."""
        return [sample for sample in self.samples if sample.kind == kind]

    def sample_problem(self, sample: EntrySample, line: int, message: str, hint: str = "") -> Problem:
        """A problem at a line of a sample's text (1-based; 0 is its header)."""
        return Problem(self.samples_path, sample.place(line), 1, f"{sample.kind} {sample.name}", message, hint)


@dataclass(slots=True)
class Library:
    """All entries of one or several folders. An entry of a later folder replaces one of an earlier folder that has the
    same id, and the library says so."""

    entries: dict[str, Loaded] = field(default_factory=dict)
    tables: dict[str, Path] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    overridden: list[tuple[Path, Path]] = field(default_factory=list)

    def need(self) -> Library:
        """The library itself. Raises `EntryError` with every problem if there are any."""
        if self.problems:
            raise EntryError(self.problems)
        return self

    def usable(self) -> Library:
        """The library without the entries that have problems, for a checkout in which somebody is at work."""
        files = {problem.path for problem in self.problems}
        faulty = {path.parent for path in files}
        kept = {name: item for name, item in self.entries.items() if item.folder not in faulty}
        tables = {name: path for name, path in self.tables.items() if path not in files}
        return Library(kept, tables, [], self.overridden)


def english_hash(entry: Entry) -> str:
    """The hash of the English text that a translation follows: title, summary, cause, fixes, reasons."""
    said: dict[str, Any] = {
        "title": entry.title,
        "cause": entry.cause,
        "fixes": [[f.do, f.why, f.code, f.shell] for f in entry.fixes],
        "advice": [a.because for a in entry.advice],
        "lookalikes": [a.because for a in entry.not_to_confuse_with],
    }
    if entry.summary is not None:  # entries without one keep the hash that their translations hold
        said["summary"] = entry.summary
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def load(*folders: Path) -> Library:
    """Read every entry below the folders (each may also be one area or one entry)."""
    library = Library()
    for folder in folders:
        here: dict[str, Loaded] = {}
        for path in sorted(folder.rglob("entry.yaml")):
            loaded, problems = load_entry(path, folder)
            library.problems += problems
            if loaded is None:
                continue
            if (other := here.get(loaded.entry.id)) is not None:
                text = f"id {loaded.entry.id!r} is taken by {other.document.path}"
                library.problems.append(loaded.document.problem(("id",), text, "ids are unique"))
                continue
            here[loaded.entry.id] = loaded
        for name, loaded in here.items():
            if name in library.entries:
                library.overridden.append((loaded.document.path, library.entries[name].document.path))
            library.entries[name] = loaded
        tables = folder / TABLES
        for path in sorted(p for p in tables.rglob("*") if p.suffix in (".yaml", ".jsonl")):
            library.problems += source.rows(path, folder)[1]
            library.tables[path.relative_to(tables).with_suffix("").as_posix()] = path
    return library


def load_entry(path: Path, root: Path | None = None) -> tuple[Loaded | None, list[Problem]]:
    """One ``entry.yaml`` with its translations. Links are followed inside of ``root`` only (default: the entry's folder)."""
    root = root or path.parent
    document, problems = source.read(path, root)
    if document is None:
        return None, problems
    entry, found = _validate(Entry, document)
    problems += found
    if not isinstance(entry, Entry):
        return None, problems
    if entry.id != path.parent.name:
        problems.append(document.problem(("id",), f"is {entry.id!r} in folder {path.parent.name!r}", "make them equal"))
    problems += form_texts.problems(entry, document)
    translated, found = load_translations(entry, path.parent, root)
    problems += found
    found_samples, faults = load_samples(path.with_name(FILE), root)
    return Loaded(entry, document, translated, found_samples), problems + faults


def load_translations(entry: Entry, folder: Path, root: Path) -> tuple[dict[str, Translated], list[Problem]]:
    """The translations of an entry, by the code of the language: files such as ``zh.yaml``, named by two letters."""
    out: dict[str, Translated] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob(TRANSLATIONS)):
        document, found = source.read(path, root)
        problems += found
        if document is None:
            continue
        model, found = _validate(Translation, document)
        text = model if isinstance(model, Translation) else None
        problems += found if text is None else _same_shape(entry, text, document)
        out[path.stem] = Translated(document, text)
    return out, problems


def load_samples(path: Path, root: Path) -> tuple[tuple[EntrySample, ...], list[Problem]]:
    """The samples of an entry; none if there is no file."""
    if old := [name for name in ("match", "no_match") if (path.parent / name).is_dir()]:
        hint = f"python -m kb.samples {path.parent} moves them"
        return (), [Problem(path.parent / old[0], 1, 1, "", f"samples belong into {FILE}, not into folders", hint)]
    if not (path.exists() or path.is_symlink()):
        return (), []
    try:
        text = contents(path, root, MAX_SAMPLES_BYTES).decode("utf-8")
        return tuple(parse(text)), []
    except InvalidSamples as error:
        return (), [Problem(path, error.line, 1, "", str(error))]
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        return (), [Problem(path, line, 1, "", "is not UTF-8", "samples are UTF-8 text")]
    except (OSError, Refused) as error:
        return (), [
            Problem(path, 1, 1, "", str(getattr(error, "strerror", None) or error), "expected a regular text file")
        ]


def _validate(model: type[Part], document: Document) -> tuple[Part | None, list[Problem]]:
    try:
        return model.model_validate(document.value), []
    except ValidationError as error:
        return None, [_problem(document, fault, model) for fault in error.errors(include_url=False)]


def _problem(document: Document, fault: Any, model: type[Part]) -> Problem:
    tags = {kind.__name__ for kind in KINDS.values()}
    place = tuple(p for p in fault["loc"] if not (isinstance(p, str) and (p in tags or "[" in p or p == "str")))
    message, hint = str(fault["msg"]).removeprefix("Value error, "), ""
    if fault["type"] == "extra_forbidden":
        message, hint = "unknown key", did_you_mean(str(place[-1]), _keys(model))
    elif fault["type"] == "missing":
        message = "is missing"
    elif fault["type"] == "model_type":
        message, hint = "expected keys with values", ", ".join(_keys_of(model, fault["ctx"]["class_name"]))
    return document.problem(place, message, hint)


def _keys_of(model: type[Part], part: str) -> list[str]:
    """The keys of one part of a form, by the name of its class."""
    schema = model.model_json_schema()
    found = schema if schema["title"] == part else schema.get("$defs", {}).get(part, {})
    return list(found.get("properties", ()))


def _keys(model: type[Part]) -> list[str]:
    """Every key that the form knows, for "did you mean"."""
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return sorted({key for part in parts for key in part.get("properties", {})})


def conditions(entry: Entry) -> Iterator[tuple[Place, ConditionForm]]:
    """Every condition of an entry with its place, nested ones included."""

    def inside(place: Place, condition: Any) -> Iterator[tuple[Place, ConditionForm]]:
        yield place, condition
        for name in ("any", "all"):
            for i, part in enumerate(getattr(condition, name, ())):
                yield from inside((*place, name, i), part)
        if hasattr(condition, "not_"):
            yield from inside((*place, "not"), condition.not_)

    for i, symptom in enumerate(entry.symptoms):
        for part in ("require", "support", "exclude"):
            for j, condition in enumerate(getattr(symptom, part)):
                yield from inside(("symptoms", i, part, j), condition)
    for i, fix in enumerate(entry.fixes):
        if fix.when is not None:
            yield from inside(("fixes", i, "when"), fix.when)


def _same_shape(entry: Entry, text: Translation, document: Document) -> Iterator[Problem]:
    for name in ("fixes", "advice", "not_to_confuse_with"):
        english, translated = getattr(entry, name), getattr(text, name)
        if len(english) != len(translated):
            yield document.problem((name,), f"has {len(translated)} items, the English {len(english)}")
    if bool(entry.summary) != bool(text.summary):
        yield document.problem(("summary",), "`summary` is written in one language only", "write it in all of them")
    for i, (fix, other) in enumerate(zip(entry.fixes, text.fixes, strict=False)):
        if bool(fix.why) != bool(other.why):
            yield document.problem(("fixes", i), "`why` is written in one language only")


def main(arguments: list[str] | None = None) -> int:
    library = load(*map(Path, arguments if arguments is not None else sys.argv[1:] or ["entries"]))
    for problem in sorted(library.problems):
        print(problem)
    print(f"{len(library.entries)} entries, {len(library.problems)} problems", file=sys.stderr)
    return 2 if library.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
