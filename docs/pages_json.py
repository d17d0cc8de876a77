"""``docs/json-report.md``: the fields of the JSON report, from its committed schema."""

from __future__ import annotations

from typing import Any

from troubleshooter.report.schema import report_schema

_INTRODUCTION = """\
# The JSON report

<!-- Made by `python -m docs.make` from troubleshooter/report/report.schema.json. Do not edit. -->

`troubleshoot --format json LOG` prints one JSON object; for several logs it prints one object a line. From Python,
`report.to_dict()` returns the same. The JSON Schema is [report.schema.json](../troubleshooter/report/report.schema.json);
`troubleshoot check --report-schema` prints it too.

The report is a contract. Within a `schema_version` keys are only added: none is removed or renamed, and none changes its
type. A reader should ignore keys that it does not know.

<!-- run: checkout -->
```console
$ troubleshoot --format json tests/logs/gemma3-eval.log | python -c 'import json, sys; print(json.load(sys.stdin)["diagnoses"][0]["id"])'
cache-object-float
```

## The report

"""


def json_report() -> str:
    """The page: a table of the report's own fields, then one for each kind of object in it."""
    schema = report_schema()
    out = [_INTRODUCTION, _table(schema)]
    for name, definition in schema["$defs"].items():
        described = definition.get("description", "").replace("``", "`")
        out.append(f"\n## {name}\n\n" + (f"{described}\n\n" if described else "") + _table(definition))
    return "".join(out)


def _table(definition: dict[str, Any]) -> str:
    required = set(definition.get("required", ()))
    rows = ["| field | type |", "| --- | --- |"]
    for name, value in definition["properties"].items():
        rows.append(f"| `{name}`{'' if name in required else ' (may be absent)'} | {_type(value)} |")
    return "\n".join(rows) + "\n"


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_type(value['items'])}"
    if value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"object: by name, {_type(value['additionalProperties'])}"
    return str(value.get("type", "any value"))
