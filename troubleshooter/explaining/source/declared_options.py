"""The options that the user's own program declares with ``add_argument`` or ``click.option``, each with its default and its class."""

from __future__ import annotations

import ast
from typing import NamedTuple

from troubleshooter.explaining.remedy import UNKNOWN, literal

_DECLARE = ("add_argument", "option")


class DeclaredOption(NamedTuple):
    """``name``: as the program reads it. ``default``: None where the file gives none. ``type``: "" where no class is named, so a text."""

    name: str
    default: ast.expr | None
    type: str

    def value(self, told: str) -> ast.expr:
        """What the program makes of a text of the command line."""
        number = literal(told)
        is_number = isinstance(number, (int, float)) and self.type in ("int", "float")
        return ast.Constant(number if is_number and number is not UNKNOWN else told)


def declared(tree: ast.Module) -> dict[str, DeclaredOption]:
    """The options that a file declares, by their name."""
    found = [declared_by(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {one.name: one for one in found if one is not None}


def declared_by(call: ast.Call) -> DeclaredOption | None:
    """The option that a call declares; None for other calls."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    if function not in _DECLARE:
        return None
    said = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    told = [said["dest"]] if "dest" in said else call.args
    names = [one.value for one in told if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    long = [name for name in names if name.startswith("--")] or names
    name = long[0].lstrip("-").replace("-", "_") if long else ""
    type_ = ast.unparse(said["type"]) if "type" in said else ""
    return DeclaredOption(name, said.get("default"), type_) if name.isidentifier() else None
