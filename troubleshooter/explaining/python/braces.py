"""Braces of a text's own that ``str.format`` reads as fields: JSON or code inside of a prompt's template."""

from __future__ import annotations

import ast
import re

from kb import lazy
from troubleshooter.explaining.python.calling import LineAnswer, text
from troubleshooter.explaining.remedy import UNKNOWN, literal

_NO_FIELD = lazy.compile(r"""[\s"'{},:<>()\\]|^$""")
"""What no name of a field holds. A key with it stood between braces that were not meant as a field's."""


def read_as_field(key: str, nodes: list[ast.AST]) -> LineAnswer | None:
    """A KeyError whose key is what stands between two braces of the text."""
    asked = literal(key)
    if asked is UNKNOWN or not isinstance(asked, str) or not _NO_FIELD.search(asked):
        return None
    return _answer(f"{{{asked}}}", nodes)


def numbered(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """Empty braces, or braces around a number, for which nothing was passed."""
    return _answer("{}" if m[1] == "0" else f"{{{m[1]}}}", nodes)


def unbalanced(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A brace without the other one, or with code inside."""
    return _answer("{", nodes)


def _answer(braces: str, nodes: list[ast.AST]) -> LineAnswer | None:
    calls = [
        node
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("format", "format_map")
    ]
    if len(calls) != 1 or not isinstance(calls[0].func, ast.Attribute):
        return None
    template = calls[0].func.value
    shown = text(template) if not isinstance(template, (ast.Constant, ast.JoinedStr)) else "..."
    fixes = [("fmt-double", "{{ }}")]
    if len(calls[0].keywords) == 1 and calls[0].keywords[0].arg and not calls[0].args and shown != "...":
        one = calls[0].keywords[0]
        fixes.append(("fmt-replace", f'{shown}.replace("{{{one.arg}}}", {text(one.value)})'))
    return LineAnswer("fmt-braces", {"x": shown, "k": " ".join(braces.split())[:60]}, (shown,), tuple(fixes))
