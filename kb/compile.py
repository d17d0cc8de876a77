"""Typed entries → the compiled form (`kb.compiled`): literals, triggers, bodies, tables."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from kb import likeness, patterns
from kb.compiled import FORMAT, MATCHED, TOLERATED, WORDS, holds, numbers
from kb.form import Entry
from kb.load import Library, Loaded, english_hash
from kb.sealed import seal
from kb.shown import printed, records
from kb.source import Loader
from kb.standing import StandingWords
from kb.versions import release


def compile_to(library: Library, target: Path) -> None:
    """Write the pack atomically. Raises `EntryError` when the library has problems, OSError when it cannot write."""
    data = _Compiler(library.need()).run()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(seal(data))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class _Body:
    """What stands behind the index, part by part."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._at = 0

    def add(self, part: bytes) -> tuple[int, int]:
        """Where the part stands, and its length."""
        at = self._at
        self.parts.append(part)
        self._at += len(part) + 1
        return at, len(part)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


class _Compiler:
    def __init__(self, library: Library) -> None:
        self.library = library
        self.literals: dict[str, int] = {}
        # By literal and entry: the ways in which the entry's patterns with that literal match.
        self.triggers: dict[int, dict[int, list[patterns.Way]]] = {}
        self.pseudo: dict[str, set[int]] = {}
        self.standing = StandingWords()

    def run(self) -> bytes:
        loaded = [self.library.entries[i] for i in sorted(self.library.entries)]
        relations = _symmetric(loaded)
        built = [self._body(n, item, relations) for n, item in enumerate(loaded)]
        self._strict(built)
        body = _Body()
        places: list[int] = []
        for item in built:
            parts = [{k: v for k, v in item.items() if (k in MATCHED) == matched} for matched in (True, False)]
            (at, matched), (_, texts) = (body.add(_json(part)) for part in parts)
            places += at, matched, texts
        names = sorted(self.literals, key=self.literals.__getitem__)
        starts, owners, beside = [0], list[int](), list[int]()
        for text in names:
            literal = self.literals[text]
            owners += sorted(self.triggers.get(literal, ()))
            starts.append(len(owners))
            asked = self._beside(literal, text)
            beside += body.add(_json(asked)) if asked else (0, 0)
        named = [(WORDS, self._words(built)), *((n, _table(p)) for n, p in sorted(self.library.tables.items()))]
        tables = {name: body.add(blob) for name, blob in named if blob}
        sections = {
            name: body.add(numbers(n)) for name, n in (("starts", starts), ("owners", owners), ("places", places))
        }
        digits = {number: text for number, text in enumerate(names) if re.search("[0-9]", text)}
        sections |= {
            "beside": body.add(numbers(beside)),
            "literals": body.add(_json(names)),
            "digits": body.add(_json(digits)),
        }
        standing = self.standing.texts()
        header = {
            "format": FORMAT,
            "digest": hashlib.blake2b("\0".join([*names, "", *standing]).encode(), digest_size=16).hexdigest(),
            "standing": standing,
        }
        index = {
            "count": len(names),
            "sections": sections,
            "checked": _checked(self.library),
            "pseudo": {name: sorted(owners) for name, owners in sorted(self.pseudo.items())},
            "ids": [item.entry.id for item in loaded],
            "tables": tables,
        }
        return b"\n".join([_json(header), _json(index), *body.parts]) + b"\n"

    # --- one entry ---

    def _body(self, number: int, item: Loaded, relations: dict[str, dict[str, Any]]) -> dict[str, Any]:
        entry = item.entry
        body = entry.model_dump(by_alias=True, exclude_defaults=True, exclude={"symptoms", "fixes"})
        body.update(kind=entry.kind, role=entry.role, severity=entry.severity, retry=entry.retry, area=item.area)
        body["hash"] = english_hash(entry)
        body["symptoms"] = []
        for i, symptom in enumerate(entry.symptoms):
            require = [self._condition(c) for c in symptom.require]
            self._trigger(number, require)
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
        body["zh"] = item.chinese.model_dump(exclude_none=True) if item.chinese else None
        body["lookalikes"] = relations[entry.id]
        body["printed"] = printed(item)
        self.standing.add(item)
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
        return {"re": pattern, "literals": found, "ways": patterns.ways(pattern)}

    def _literal(self, text: str) -> int:
        return self.literals.setdefault(text, len(self.literals))

    def _trigger(self, number: int, require: list[dict[str, Any]]) -> None:
        """Which literals or observed things make the entry worth a look: those of one required condition."""
        best = max(require, key=_rarity)
        for key, ways in self._keys(best):
            if isinstance(key, int):
                self.triggers.setdefault(key, {}).setdefault(number, []).extend(ways)
            else:
                self.pseudo.setdefault(key, set()).add(number)

    def _beside(self, literal: int, text: str) -> dict[int, list[patterns.Way]]:
        """By entry that a literal triggers: what its patterns' ways to match ask for beside the literal, where all do."""
        out = {}
        for number, ways in self.triggers.get(literal, {}).items():
            beside: list[patterns.Way] = []
            for way in ways:
                left = [runs for runs in way if not holds([[runs]], text)]
                if left not in beside:
                    beside.append(left)
            if all(beside):
                out[number] = beside
        return out

    def _strict(self, bodies: list[dict[str, Any]]) -> None:
        """Mark symptoms whose words do not tell them from other entries: what else they ask must then really be seen.

        Words that several entries have ("cannot import name") say little; a frame or version that a paste lacks may
        not be passed over with them. A table's row tells enough by itself.
        """
        names = list(self.literals)
        owners = [set(self.triggers.get(number, ())) for number in self.literals.values()]
        for body in bodies:
            for symptom in body["symptoms"]:
                kinds = {c["kind"] for c in symptom["require"]}
                if not kinds & TOLERATED or "row" in kinds or _has_row(symptom["require"]):
                    continue
                words = [names[n] for c in symptom["require"] for n in _literals(c)]
                shared = all(
                    len(set().union(*(o for name, o in zip(names, owners, strict=True) if word in name))) >= SHARED
                    for word in words
                )
                symptom["strict"] = shared  # no words at all: shared by everybody

    def _words(self, bodies: list[dict[str, Any]]) -> bytes:
        """By word: the entries of which a failure prints it, told from their samples and literals."""
        names = list(self.literals)
        owners: dict[str, list[int]] = {}
        for number, body in enumerate(bodies):
            literals = [names[n] for symptom in body["symptoms"] for c in symptom["require"] for n in _literals(c)]
            for word in likeness.words(" ".join([*body["printed"], *literals])):
                owners.setdefault(word, []).append(number)
        return _sorted_rows(f"{json.dumps(word, ensure_ascii=False)}\t{json.dumps(owners[word])}" for word in owners)

    def _keys(self, condition: dict[str, Any]) -> list[tuple[int | str, list[patterns.Way]]]:
        """The literals and observed things of which one is there where the condition holds, with the ways to hold."""
        kind = condition["kind"]
        if kind in ("message", "line") and condition["patterns"]:
            return [(n, pattern["ways"]) for pattern in condition["patterns"] for n in pattern["literals"]]
        if kind == "message":
            return [(f"exception:{name}", [[]]) for name in condition["exception"]]
        if kind == "metric":
            return [(key, [[]]) for key in _metric_keys(condition)]
        if kind == "exit":
            return [(f"exit:{status}", [[]]) for status in condition["statuses"]]
        if kind == "any":
            return [key for part in condition["parts"] for key in self._keys(part)]
        if kind == "all":
            return self._keys(max(condition["parts"], key=_rarity))
        if kind in ("package", "flag"):
            return [(n, [[]]) for n in condition["literals"]]
        return [("always", [[]])]


ODD = {"nan": "nonfinite", "inf": "nonfinite", "nonfinite": "nonfinite", "zero": "zero"}
"""Shapes of values that most logs lack, and what calls up an entry that asks for one."""
SHARED = 4
"""Entries from which on words are common property."""


def _metric_keys(condition: dict[str, Any]) -> list[str]:
    """What is there where the condition holds, as `match.engine` tells it: metrics by name, those with odd values."""
    kind = ODD.get(condition["is"], "metric")
    return [kind if any("*" in n for n in condition["names"]) else f"{kind}:{n}" for n in condition["names"]]


def _literals(condition: dict[str, Any]) -> list[int]:
    found = [n for pattern in condition.get("patterns", ()) for n in pattern["literals"]]
    return found + [n for part in condition.get("parts", ()) for n in _literals(part)]


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
    return {"message": 5, "exit": 4, "package": 1, "flag": 1}.get(kind, 0)


def _metric(condition: Any) -> dict[str, Any]:
    return {
        "names": _list(condition.metric), "is": condition.is_, "value": condition.value, "every": condition.every,
        "after_finite": condition.after_finite, "points": condition.points,
        "beside": [{"kind": "metric", **_metric(b)} for b in condition.beside],
    }  # fmt: skip


def _checked(library: Library) -> dict[str, str]:
    """The newest release of each package that the tables were made from: what the knowledge was checked against."""
    path = library.tables.get("api/scanned")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()] if path else []
    return {row["package"].replace("_", "-"): max(row["versions"], key=release) for row in rows if row.get("versions")}


def _list(value: str | list[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value


def _spellings(names: list[str]) -> list[str]:
    return sorted({s for n in names for s in (n, n.replace("-", "_"), n.replace("_", "-"))})


def _symmetric(loaded: list[Loaded]) -> dict[str, dict[str, Any]]:
    """Relations declared once, by the newer entry, known on both sides."""
    out: dict[str, dict[str, Any]] = {item.entry.id: {"confused": [], "overlaps": []} for item in loaded}
    for item in loaded:
        entry: Entry = item.entry
        for i, other in enumerate(entry.not_to_confuse_with):
            zh = item.chinese.not_to_confuse_with[i].because if item.chinese else None
            out[entry.id]["confused"].append({"entry": other.entry, "because": other.because, "zh": zh})
            if other.entry in out:
                out[other.entry]["confused"].append({"entry": entry.id, "because": other.because, "zh": zh})
        for other in entry.overlaps:
            out[entry.id]["overlaps"].append(other.entry)
            if other.entry in out:
                out[other.entry]["overlaps"].append(entry.id)
    return out


_KEYS = (
    "name",
    "names",
    "model_type",
    "class_prefix",
    "number",
    "code",
    "status",
    "message",
    "messages",
    "signal",
    "owner",
)


_GENERATED = re.compile(r"(?P<what>names|parameters|members)-(?P<package>.+)")


def told_by(path: Path) -> dict[str, str]:
    """What the name of a generated table tells of its rows: their package; most rows of names are of one kind."""
    found = _GENERATED.fullmatch(path.stem)
    if found is None:
        return {}
    return {"package": found["package"], **({"kind": "name"} if found["what"] == "names" else {})}


def table_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a table."""
    if path.suffix != ".jsonl":
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)
        return data.get("rows", []) if isinstance(data, dict) else []
    told = told_by(path)
    return [{**told, **json.loads(line)} for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _table(path: Path) -> bytes:
    """Rows, each under each of its keys (the columns of `_KEYS` that it has)."""
    rows = table_rows(path)
    keyed: list[tuple[str, str]] = []
    for row in rows:
        columns = [c for c in _KEYS if c in row and not (c == "owner" and "name" in row)] or list(row)[:1]
        text = json.dumps(row, ensure_ascii=False)
        for key in {str(k) for c in columns for k in (row[c] if isinstance(row[c], list) else [row[c]])}:
            keyed.append((key, text))
    return _sorted_rows(f"{json.dumps(key, ensure_ascii=False)}\t{text}" for key, text in keyed)


def _sorted_rows(rows: Iterable[str]) -> bytes:
    """As `Pack.rows` looks them up: in the order of their bytes, each after a line end."""
    return b"".join(b"\n" + row for row in sorted(row.encode() for row in rows))
