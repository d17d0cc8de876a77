"""The JSON Schema of the report, made from the report's types: the contract that other programs rely on."""

from __future__ import annotations

from typing import Any

from troubleshooter.report.model import SCHEMA_VERSION, Diagnosis, FailureSeen, Report


def report_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what ``--format json`` prints, one object a report."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(Report).json_schema()
    properties = dict(schema["properties"])
    properties.pop("lang", None)
    required = sorted({"schema_version", "input", "failures", "diagnoses", "unexplained"})
    confidence = {"enum": ["certain", "likely", "possible"]}
    schema["$defs"][Diagnosis.__name__]["properties"]["confidence"] = confidence
    schema["$defs"][Diagnosis.__name__]["properties"]["kind"] = {"enum": ["failure", "harmless"]}
    schema["$defs"][FailureSeen.__name__]["properties"]["role"] = {
        "enum": ["initiating", "cascade", "teardown", "handled", "wrapped"]
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Troubleshoot report",
        "type": "object",
        "properties": {"schema_version": {"const": SCHEMA_VERSION}, **properties},
        "required": required,
        "$defs": schema["$defs"],
    }
