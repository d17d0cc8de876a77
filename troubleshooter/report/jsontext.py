"""JSON that any terminal and any encoding of standard output can take."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from kb import lazy

if TYPE_CHECKING:
    from troubleshooter.report.model import Report

_RAW = lazy.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Characters that act on a terminal, or that no encoding has, and that JSON may hold as they are."""


def show(report: Report, *, several: bool = False, first: bool = True) -> None:
    """Print the report as one JSON object on one line."""
    sys.stdout.write(as_json(report.to_dict()) + "\n")


def as_json(value: Any, indent: int | None = None) -> str:
    """The value as JSON. Characters that could control a terminal are escaped, and all that is not ASCII if standard output is
    not UTF-8."""
    ascii_only = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, default=str, indent=indent)
    return text if text.isascii() else _RAW.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
