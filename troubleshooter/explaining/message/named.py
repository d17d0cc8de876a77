"""Whether a message names an argument, in any of the forms in which messages do."""

from __future__ import annotations

import re


def names(message: str, name: str) -> bool:
    """Whether a message names an argument, also as separate words ("data collator") and in other forms of them ("saving steps")."""
    parts = name.split("_")
    words = r"[ _-]?".join(map(re.escape, parts))
    if len(parts) > 1 and all(len(part) > 2 for part in parts):
        words += "|" + r"[a-z]* ".join(re.escape(part[:3]) for part in parts) + "[a-z]*"
    return re.search(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", message, re.IGNORECASE) is not None
