"""Compile tables of entries (``tables/*.yaml`` and ``*.jsonl``) to sorted lines ``key<TAB>row``, which a pack looks up by key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from kb.source import Loader
from kb.wild import FAMILIES

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
"""Columns whose values a row is looked up by."""

_GENERATED = re.compile(r"(?P<what>names|parameters|members)-(?P<package>.+)")


def told_by(path: Path) -> dict[str, str]:
    """What a generated table's file name says about each of its rows: the package and, for tables of names, the kind."""
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


def compile_table(path: Path) -> bytes:
    """The rows of a table, each under each of its keys (the columns of `_KEYS` that it has)."""
    keyed: list[tuple[str, str]] = []
    for row in table_rows(path):
        columns = [c for c in _KEYS if c in row and not (c == "owner" and "name" in row)] or list(row)[:1]
        text = json.dumps(row, ensure_ascii=False)
        keys = {str(k) for c in columns for k in (row[c] if isinstance(row[c], list) else [row[c]])}
        for key in {FAMILIES} if row.get("kind") == "family" else keys:
            keyed.append((key, text))
    return sorted_rows(f"{json.dumps(key, ensure_ascii=False)}\t{text}" for key, text in keyed)


def sorted_rows(rows: Iterable[str]) -> bytes:
    """Rows in the order of their bytes, each after a line end: the form that `Pack.rows` searches by bisection."""
    return b"".join(b"\n" + row for row in sorted(row.encode() for row in rows))
