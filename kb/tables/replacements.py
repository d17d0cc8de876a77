"""The part of the tables that is written by hand: what replaces a removed argument or name (`replacements.yaml`)."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass


@dataclass(config=ConfigDict(extra="forbid"))
class Replacement:
    """One renamed, moved or dropped argument (with `owner`) or name (without)."""

    package: str
    name: str
    owner: list[str] = Field(default_factory=list)
    """Classes or functions; empty: any owner of this package, or an importable name."""
    kind: str = "parameter"
    """"parameter" or "name" (importable)."""
    module: str | None = None
    """Where a name was imported from; null: from any module. Written below the line without a module, it overrides that one."""
    replacement: str | None = None
    """What to write instead; null if nothing replaces it, and then the note says what to do."""
    note_en: str = ""
    note_zh: str = ""
    source: str = ""

    def fits(self, row: dict[str, object]) -> bool:
        """Whether this belongs to a generated row."""
        kind = "parameter" if "owner" in row else "name"
        if kind != self.kind or self.package != row["package"]:
            return False
        if self.module is not None and self.module != row["module"]:
            return False
        name = row["name"] or row["module"]
        owned = not self.owner or kind == "name" or row["owner"] in self.owner
        return name == self.name and owned


class ReplacementError(ValueError):
    """The file does not have the form that `Replacement` describes."""


def load_replacements(path: Path) -> list[Replacement]:
    """Read the file. Raises `ReplacementError` with the file's name and the number of the faulty item."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ReplacementError(f"{path}: expected a YAML list of mappings: {error}") from error
    if not isinstance(raw, list):
        raise ReplacementError(f"{path}: expected a YAML list of mappings, found {type(raw).__name__}")
    reader = TypeAdapter(Replacement)
    found: list[Replacement] = []
    for number, item in enumerate(raw, 1):
        try:
            found.append(reader.validate_python(item))
        except ValidationError as error:
            shown = item.get("name") if isinstance(item, dict) else item
            wrong = "; ".join(f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors())
            raise ReplacementError(f"{path}: item {number} ({shown}): {wrong}") from error
    return found


def merge(rows: list[dict[str, object]], replacements: list[Replacement]) -> list[Replacement]:
    """Writes into rows that end what replaces them, and `older_name` into rows that begin as the new name of something.

    A row gets `replacement` with its `note` and `note_zh`, or, where nothing replaces it, `advice` and `advice_zh`.
    Returns the replacements that no row wanted.
    """
    unused = list(replacements)
    newer = {(item.package, item.replacement): item for item in replacements if item.kind == "parameter"}
    by_name: dict[tuple[str, str], list[Replacement]] = {}
    for item in replacements:
        by_name.setdefault((item.package, item.name), []).append(item)
    for row in rows:
        row.setdefault("replacement", None)
        for item in by_name.get((str(row["package"]), str(row["name"] or row["module"])), ()):
            if item.fits(row):
                if item in unused:
                    unused.remove(item)
                if row["until"] is not None:
                    row["replacement"] = item.replacement
                    said, other = ("note", "advice") if item.replacement else ("advice", "note")
                    row.update({said: item.note_en or None, f"{said}_zh": item.note_zh or None})
                    row.update({column: None for column in (other, f"{other}_zh") if column in row})
        renamed = newer.get((str(row["package"]), str(row["name"])))
        if renamed is not None and row["since"] and (not renamed.owner or row.get("owner") in renamed.owner):
            row["older_name"] = renamed.name
            if renamed in unused:
                unused.remove(renamed)
    return unused
