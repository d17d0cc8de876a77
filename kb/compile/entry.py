"""Compiles one typed entry to its unit: the two parts of its body, and the data that linking needs.

A unit depends only on the files of its entry. Its literals are numbered within the entry; `kb.compile.link` gives them
their numbers in the pack.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kb import likeness, search
from kb.compile.installs import required_releases
from kb.compiled import MATCHED, Body
from kb.compiled_conditions import TOLERATED, CompiledSymptom, has, patterns_of
from kb.conditions.base import ConditionForm, compiled_pattern, rarest
from kb.literal_index import Status
from kb.load import Loaded, english_hash
from kb.shown import printed, records
from kb.standing import standing_literals


@dataclass(slots=True)
class Unit:
    """One compiled entry, before it is linked. Every field is JSON, or a value that JSON can hold."""

    id: str
    matched: str = ""
    """JSON of the part that is read to match the entry. Literals are indices into ``literals``."""
    texts: str = ""
    """JSON of the part that is read for a report."""
    literals: list[str] = field(default_factory=list)
    triggers: list[int] = field(default_factory=list)
    """Literals by which the entry is found: one of them in a log makes it worth trying."""
    signals: list[str] = field(default_factory=list)
    """Observed things by which the entry is found: ``metric:loss``, ``exit:-9``."""
    shareable: list[tuple[int, list[int]]] = field(default_factory=list)
    """Symptoms that are strict if other entries share their literals: the number of the symptom, and its literals."""
    words: list[str] = field(default_factory=list)
    """Words that a failure of this entry prints, with which an unknown message is compared."""
    search: str = ""
    """JSON of the entry's data for the index of searches (`kb.search.Terms`)."""
    confused: list[dict[str, Any]] = field(default_factory=list)
    overlaps: list[str] = field(default_factory=list)
    listed: list[Any] = field(default_factory=list)
    """What a list shows beside the id, as `kb.compiled.Listed` has it: area, kind, severity, title, titles in other
    languages, status."""
    aliases: list[str] = field(default_factory=list)
    replaced_by: str | None = None
    standing: list[str] = field(default_factory=list)
    """Literals for which a place in the middle of a large log is read (`kb.standing`)."""


def compile_entry(item: Loaded) -> Unit:
    """The unit of one entry without problems."""
    return _Compiler(item).run()


class _Compiler:
    def __init__(self, item: Loaded) -> None:
        self.item = item
        self.unit = Unit(item.entry.id)
        self.numbers: dict[str, int] = {}
        self.triggers: set[int] = set()

    def run(self) -> Unit:
        unit, body = self.unit, self._body()
        matched, texts = ({k: v for k, v in body.items() if (k in MATCHED) == part} for part in (True, False))
        unit.literals = list(self.numbers)
        unit.matched, unit.texts = _json(matched), _json(texts)
        unit.triggers = sorted(self.triggers)
        unit.signals = sorted(set(unit.signals))
        unit.shareable = [
            (number, sorted({n for c in symptom["require"] for p in patterns_of(c) for n in p["literals"]}))
            for number, symptom in enumerate(body["symptoms"])
            if _may_be_strict(symptom)
        ]
        required = [
            unit.literals[n]
            for s in body["symptoms"]
            for c in s["require"]
            for p in patterns_of(c)
            for n in p["literals"]
        ]
        unit.words = sorted(likeness.words(" ".join([*body["printed"], *required])))
        unit.search = _json(search.terms(body))
        entry, translations = self.item.entry, self.item.translations
        for i, other in enumerate(entry.not_to_confuse_with):
            reasons = {code: text.not_to_confuse_with[i].because for code, text in translations.items()}
            unit.confused.append({"entry": other.entry, "because": other.because, "translations": reasons})
        titles = {code: text.title for code, text in translations.items()}
        unit.listed = [self.item.area, entry.kind, entry.severity, entry.title, titles, _status(body)]
        unit.overlaps = [other.entry for other in entry.overlaps]
        unit.standing = sorted(standing_literals(self.item))
        unit.aliases, unit.replaced_by = entry.aliases, entry.replaced_by
        if entry.replaced_by is not None:
            _retire(unit)
        return unit

    def _body(self) -> dict[str, Any]:
        item, entry = self.item, self.item.entry
        body = entry.model_dump(by_alias=True, exclude_defaults=True, exclude={"symptoms", "fixes"})
        body.update(kind=entry.kind, role=entry.role, severity=entry.severity, retry=entry.retry, area=item.area)
        body["hash"] = english_hash(entry)
        if entry.reviewed is not None:
            body["reviewed"] = entry.reviewed.isoformat()
        body["symptoms"] = []
        for i, symptom in enumerate(entry.symptoms):
            require = [c.compile(self._literal) for c in symptom.require]
            self._trigger(symptom.require)
            body["symptoms"].append(
                {
                    "name": symptom.name or str(i + 1),
                    "decisive": symptom.decisive,
                    "require": require,
                    "support": [c.compile(self._literal) for c in symptom.support],
                    "exclude": [c.compile(self._literal) for c in symptom.exclude],
                    "source": symptom.source.model_dump(exclude_none=True),
                }
            )
        body["fixes"] = []
        for fix in entry.fixes:
            dumped = fix.model_dump(exclude_none=True, exclude={"when"})
            if fix.when is not None:
                dumped["when"] = fix.when.compile(self._literal)
            if (requires := required_releases(fix, entry.versions)) is not None:
                dumped["requires"] = requires
            body["fixes"].append(dumped)
        body["advice"] = [
            {"because": a.because, "pattern": compiled_pattern(a.printed, self._literal)} for a in entry.advice
        ]
        body["translations"] = {code: text.model_dump(exclude_none=True) for code, text in item.translations.items()}
        body["printed"] = printed(item)
        body["verified"] = records(item)
        return body

    def _literal(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def _trigger(self, require: Sequence[ConditionForm]) -> None:
        """Note which literals or signals trigger the entry: those of the rarest required condition."""
        found = rarest(require)
        self.triggers.update(map(self._literal, found.literals()))
        self.unit.signals += found.signals()


def _status(body: Body) -> list[Status]:
    found: list[Status] = ["draft"] if body.get("status") == "draft" else []
    found += ["reviewed"] if "reviewed" in body else []
    found += ["proven"] if any(run["verdict"] == "confirmed" for run in body["verified"]) else []
    return [*found, "retired"] if "replaced_by" in body else found


def _retire(unit: Unit) -> None:
    """Remove the triggers of a retired entry, so that no log calls it up. It keeps its page and its texts."""
    unit.triggers, unit.signals, unit.words, unit.standing, unit.shareable = [], [], [], [], []
    unit.confused, unit.overlaps = [], []
    unit.search = _json(search.NOTHING)


_json = json.JSONEncoder(ensure_ascii=False).encode


def _may_be_strict(symptom: CompiledSymptom) -> bool:
    """Whether a symptom requires something that a paste often lacks. A row of a table tells enough by itself."""
    kinds = {c["kind"] for c in symptom["require"]}
    return bool(kinds & TOLERATED) and not any(has(c, "row") for c in symptom["require"])
