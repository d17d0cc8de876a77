"""Characters that must not reach a terminal or a page: controls, escapes, bidirectional and invisible characters."""

from __future__ import annotations

import re

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""All characters that are replaced. Line feed and tab are not among them, because texts of entries have several lines.
"""


def clean(text: str) -> str:
    """The text with every unsafe character made visible as U+FFFD."""
    return text if text.isprintable() else UNSAFE.sub("\ufffd", text.replace("\r\n", "\n"))
