"""One typed entry → its unit: the two parts of its body, and what linking needs to know about it.

A unit depends on the files of its entry alone. Its literals are numbered within the entry; `kb.compile.link` gives them
their numbers in the pack.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kb import likeness, patterns, search
from kb.compiled import MATCHED, TOLERATED
from kb.load import Loaded, english_hash
from kb.shown import printed, records
from kb.standing import standing_literals


@dataclass(slots=True)
class Unit:
    """One compiled entry, before it is linked. Every field is JSON."""

    id: str
    matched: str = ""
    """JSON of the body's part that matching reads; literals are indices into ``literals``."""
    texts: str = ""
    """JSON of the part that a report reads."""
    literals: list[str] = field(default_factory=list)
    triggers: list[int] = field(default_factory=list)
    """Literals of which one makes the entry worth a try."""
    signals: list[str] = field(default_factory=list)
    """Observed things that make the entry worth a look: ``metric:loss``, ``exit:-9``."""
    shareable: list[tuple[int, list[int]]] = field(default_factory=list)
    """Symptoms that are strict if their literals are shared by other entries: number of the symptom, its literals."""
    words: list[str] = field(default_factory=list)
    """Words that a failure of this entry prints, by which an unknown message is compared."""
    search: Sequence[Any] = ()
    """What the search's index takes of the entry (`kb.search.Terms`)."""
    confused: list[dict[str, Any]] = field(default_factory=list)
    overlaps: list[str] = field(default_factory=list)
    listed: list[str | dict[str, str]] = field(default_factory=list)
    """What a list shows beside the id, as `kb.compiled.Listed` has it: area, kind, severity, title, titles in other languages."""
    standing: list[str] = field(default_factory=list)
    """Literals that make a place in the middle of a large log worth a look (`kb.standing`)."""


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
            (number, sorted({n for c in symptom["require"] for n in literals_of(c)}))
            for number, symptom in enumerate(body["symptoms"])
            if _may_be_strict(symptom)
        ]
        required = [unit.literals[n] for s in body["symptoms"] for c in s["require"] for n in literals_of(c)]
        unit.words = sorted(likeness.words(" ".join([*body["printed"], *required])))
        unit.search = search.terms(body)
        entry, translations = self.item.entry, self.item.translations
        for i, other in enumerate(entry.not_to_confuse_with):
            reasons = {code: text.not_to_confuse_with[i].because for code, text in translations.items()}
            unit.confused.append({"entry": other.entry, "because": other.because, "translations": reasons})
        titles = {code: text.title for code, text in translations.items()}
        unit.listed = [self.item.area, entry.kind, entry.severity, entry.title, titles]
        unit.overlaps = [other.entry for other in entry.overlaps]
        unit.standing = sorted(standing_literals(self.item))
        return unit

    def _body(self) -> dict[str, Any]:
        item, entry = self.item, self.item.entry
        body = entry.model_dump(by_alias=True, exclude_defaults=True, exclude={"symptoms", "fixes"})
        body.update(kind=entry.kind, role=entry.role, severity=entry.severity, retry=entry.retry, area=item.area)
        body["hash"] = english_hash(entry)
        body["symptoms"] = []
        for i, symptom in enumerate(entry.symptoms):
            require = [self._condition(c) for c in symptom.require]
            self._trigger(require)
            body["symptoms"].append(
                {
                    "name": symptom.name or str(i + 1),
                    "decisive": symptom.decisive,
                    "require": require,
                    "support": [self._condition(c) for c in symptom.support],
                    "exclude": [self._condition(c) for c in symptom.exclude],
                    "source": symptom.source.model_dump(exclude_none=True),
                }
            )
        body["fixes"] = []
        for fix in entry.fixes:
            dumped = fix.model_dump(exclude_none=True, exclude={"when"})
            if fix.when is not None:
                dumped["when"] = self._condition(fix.when)
            body["fixes"].append(dumped)
        body["advice"] = [{"because": a.because, "pattern": self._pattern(a.printed)} for a in entry.advice]
        body["translations"] = {code: text.model_dump(exclude_none=True) for code, text in item.translations.items()}
        body["printed"] = printed(item)
        body["verified"] = records(item)
        return body

    def _condition(self, condition: Any) -> dict[str, Any]:
        """A condition as the matcher evaluates it: its kind, and patterns with the numbers of their literals."""
        kind = type(condition).__name__.lower()
        out: dict[str, Any] = {"kind": kind}
        if kind == "message":
            out["exception"] = _list(condition.exception)
            out["patterns"] = self._patterns(_list(condition.message))
        elif kind == "line":
            out["patterns"] = self._patterns(_list(condition.line))
            out["at_least"] = condition.at_least
        elif kind in ("anyof", "allof"):
            out["kind"] = kind[:3]
            out["parts"] = [self._condition(c) for c in getattr(condition, kind[:3])]
        elif kind == "not":
            out["part"] = self._condition(condition.not_)
        elif kind == "package":
            out["names"] = names = _list(condition.package)
            out["literals"] = [self._literal(n.lower()) for n in _spellings(names)]
        elif kind == "flag":
            out["names"] = names = _list(condition.flag)
            out["value"] = condition.value
            out["literals"] = [self._literal(n.lower()) for n in _spellings(names)]
        elif kind == "metric":
            out.update(_metric(condition))
        elif kind == "frame":
            out.update(paths=_list(condition.frame), functions=_list(condition.function), at=condition.at)
        elif kind == "exit":
            given = condition.exit if isinstance(condition.exit, list) else [condition.exit]
            out["statuses"] = [128 - s if 128 < s < 160 else s for s in given]
        elif kind == "phase":
            out["phases"] = _list(condition.phase)
        else:
            out.update(condition.model_dump(by_alias=True, exclude_none=True))
        return out

    def _patterns(self, given: list[str]) -> list[dict[str, Any]]:
        """The wordings of a condition, and what is left of them on a rendered page."""
        copied = [bare for pattern in given if (bare := patterns.rendered(pattern)) is not None]
        return [self._pattern(pattern) for pattern in [*given, *copied]]

    def _pattern(self, pattern: str) -> dict[str, Any]:
        found = [self._literal(text) for text in patterns.literals(pattern)]
        return {"re": pattern, "literals": found, "required": patterns.required_texts(pattern)}

    def _literal(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def _trigger(self, require: list[dict[str, Any]]) -> None:
        """Note which literals or signals make the entry worth a look: those of the rarest required condition."""
        for key in self._keys(max(require, key=_rarity)):
            if isinstance(key, int):
                self.triggers.add(key)
            else:
                self.unit.signals.append(key)

    def _keys(self, condition: dict[str, Any]) -> list[int | str]:
        """The literals and signals of which one is in a log where the condition holds."""
        kind = condition["kind"]
        if kind in ("message", "line") and condition["patterns"]:
            return [n for pattern in condition["patterns"] for n in pattern["literals"]]
        if kind == "message":
            return [f"exception:{name}" for name in condition["exception"]]
        if kind == "metric":
            return list(metric_keys(condition))
        if kind == "ends":
            return [f"ends:{condition['ends']}"]
        if kind == "exit":
            return [f"exit:{status}" for status in condition["statuses"]]
        if kind == "any":
            return [key for part in condition["parts"] for key in self._keys(part)]
        if kind == "all":
            return self._keys(max(condition["parts"], key=_rarity))
        if kind in ("package", "flag"):
            return list(condition["literals"])
        return ["always"]


_json = json.JSONEncoder(ensure_ascii=False).encode


def _may_be_strict(symptom: dict[str, Any]) -> bool:
    """Whether a symptom requires something that a paste often lacks. A row of a table tells enough by itself."""
    kinds = {c["kind"] for c in symptom["require"]}
    return bool(kinds & TOLERATED) and "row" not in kinds and not _has_row(symptom["require"])


ODD = {"nan": "nonfinite", "inf": "nonfinite", "nonfinite": "nonfinite", "zero": "zero"}
"""Shapes of values that most logs lack, and what calls up an entry that asks for one."""


def metric_keys(condition: dict[str, Any]) -> list[str]:
    """What is there where the condition holds, as `match.engine` tells it: metrics by name, those with odd values."""
    kind = ODD.get(condition["is"], "metric")
    return [kind if any("*" in n for n in condition["names"]) else f"{kind}:{n}" for n in condition["names"]]


def literals_of(condition: dict[str, Any]) -> list[int]:
    """The literals of a condition and of its parts."""
    found = [n for pattern in condition.get("patterns", ()) for n in pattern["literals"]]
    return found + [n for part in condition.get("parts", ()) for n in literals_of(part)]


def _has_row(conditions: list[dict[str, Any]]) -> bool:
    return any(c["kind"] == "row" or _has_row(c.get("parts", [])) for c in conditions)


def _rarity(condition: dict[str, Any]) -> int:
    kind = condition["kind"]
    if kind in ("message", "line") and condition["patterns"]:
        return 6
    if kind in ("any", "all"):
        ranks = [_rarity(part) for part in condition["parts"]]
        return min(ranks) if kind == "any" else max(ranks)
    if kind == "metric":
        return 3 if condition["is"] in ODD else 2
    return {"message": 5, "exit": 4, "ends": 4, "package": 1, "flag": 1}.get(kind, 0)


def _metric(condition: Any) -> dict[str, Any]:
    return {
        "names": _list(condition.metric), "is": condition.is_, "value": condition.value, "every": condition.every,
        "after_finite": condition.after_finite, "points": condition.points,
        "beside": [{"kind": "metric", **_metric(b)} for b in condition.beside],
    }  # fmt: skip


def _list(value: str | list[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value


def _spellings(names: list[str]) -> list[str]:
    return sorted({s for n in names for s in (n, n.replace("-", "_"), n.replace("_", "-"))})
