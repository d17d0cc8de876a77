"""The JSON Schema of the report, made from the report's types: the contract that other programs rely on.

``python -m troubleshooter.report.schema`` writes it to ``report.schema.json`` beside this module.
"""

from __future__ import annotations

import json
from inspect import getdoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from troubleshooter import ranked
from troubleshooter.report import model, parts
from troubleshooter.report.model import SCHEMA_VERSION, Report

FILE = Path(__file__).with_name("report.schema.json")
INTERNAL = ("lang",)
"""Fields of `Report` that its JSON form leaves out."""

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_NAMES = {**vars(ranked), **vars(parts), **vars(model)}


def report_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what ``--format json`` prints, one object a report."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def generated() -> dict[str, Any]:
    """The schema, made from the types. Pydantic would make it, but refuses `typing.TypedDict` before Python 3.12."""
    definitions: dict[str, Any] = {}
    _reference(Report, definitions)
    report = definitions.pop(Report.__name__)
    properties = {name: value for name, value in report["properties"].items() if name not in INTERNAL}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Troubleshoot report",
        "type": "object",
        "properties": {"schema_version": {"const": SCHEMA_VERSION}, **properties},
        "required": ["schema_version", *properties],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _of(type_: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; classes are put among the definitions and referred to."""
    if type_ in _PLAIN:
        return {"type": _PLAIN[type_]}
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return {"anyOf": [_of(one, definitions) for one in arguments]}
    if origin is list:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is dict:
        keys = {} if arguments[0] is str else {"propertyNames": _of(arguments[0], definitions)}
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions), **keys}
    return _reference(type_, definitions)


def _reference(class_: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """A reference to the definition of a class: an object with these keys and no others."""
    name = class_.__name__
    if name not in definitions:
        definitions[name] = {}  # a class may refer to itself
        hints = get_type_hints(class_.__init__ if class_ is Report else class_, _NAMES)
        hints.pop("return", None)
        required = sorted(getattr(class_, "__required_keys__", hints), key=list(hints).index)
        definitions[name] = {
            "description": " ".join((getdoc(class_) or "").split()),
            "type": "object",
            "properties": {key: _of(hint, definitions) for key, hint in hints.items()},
            "required": required,
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


if __name__ == "__main__":
    FILE.write_text(json.dumps(generated(), indent=1) + "\n", encoding="utf-8")
