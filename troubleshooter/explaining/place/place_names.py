"""What the names in the condition of a place stand for: the user's arguments, the values that the message shows, and constants."""

from __future__ import annotations

import ast
import re
from typing import Any

from kb.index.place import MessagePlace
from troubleshooter.explaining.making import is_plain
from troubleshooter.explaining.message import advice
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.place import holes
from troubleshooter.explaining.remedy import UNKNOWN, literal
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_lines import passed_values, tied

SHORT = 200
"""Characters of a name that is shown."""


class PlaceNames:
    """The names of one place. ``shown``: the values that the message shows, by their source. ``passed``: those of the user's own lines."""

    def __init__(self, trace: Trace, context: NameContext, place: MessagePlace, message: str) -> None:
        self.shown = holes.filled(place.template, message)
        self.passed = passed_values(trace)
        self._trace = trace
        self._context = context
        self._message = message
        self._labels = holes.labels(place.template)
        self._said = advice.present(message)
        self._known: dict[str, list[Origin]] = {}

    def origins(self, node: ast.expr) -> list[Origin]:
        """The origins of an expression, with the values that the message shows for it."""
        text = ast.unparse(node)
        if text not in self._known:
            value, passed, said = self.shown.get(text), self.passed, self._said
            found = [tied(one, passed, self._message, value) for one in self._trace.origins(node, self._context)]
            if value and (label := self._labels.get(text, "")) in passed and literal(passed[label]) == literal(value):
                found = [Origin(label, "argument", "", passed[label], True)]
            if value and len(found) == 1 and found[0].value is None and found[0].exact:
                found = [found[0]._replace(value=value)]
            self._known[text] = [
                one._replace(value=said[one.name]) if one.value is None and one.name in said else one for one in found
            ]
        return self._known[text]

    def constant(self, node: ast.expr) -> Any:
        """The value of an expression; `UNKNOWN` where neither the message, the user's lines nor the file show it."""
        text = ast.unparse(node)
        value = literal(text)
        if value is UNKNOWN and text in self.shown:
            value = literal(self.shown[text])
        if value is UNKNOWN and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            one = self.origins(node)
            if len(one) == 1 and one[0].exact:
                value = literal(one[0].value)
        if value is UNKNOWN and isinstance(node, ast.Name):
            value = _module_constant(self._context, node.id)
        return value

    def subject(self, node: ast.expr) -> str:
        """The argument whose very value an expression has; "" where there is none."""
        one = self.origins(node) if is_plain(node) else []
        return one[0].name if len(one) == 1 and one[0].exact else ""

    def called(self, node: ast.expr) -> str:
        """How an expression is called in a sentence."""
        one = self.origins(node) if isinstance(node, (ast.Name, ast.Attribute)) else []
        if len(one) == 1 and one[0].exact and one[0].kind in ("argument", "option"):
            return one[0].name
        text = ast.unparse(node)
        if one or not self._context.source.below:  # else it is an attribute that the library's object makes itself
            text = re.sub(r"\b(?:self|cls)\.", "", text)
        return text if len(text) <= SHORT else text[: SHORT - 1] + "…"


def _module_constant(context: NameContext, name: str) -> Any:
    for node in context.source.tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return literal(ast.unparse(node.value))
    return UNKNOWN
