"""Marking translations as fitting: the hash of the English goes into each of them."""

from __future__ import annotations

import re

from kb.load import Loaded, english_hash

_OF = re.compile(r"^of:.*$", re.MULTILINE)


def stamp(item: Loaded) -> bool:
    """Write the hash into translations whose hash differs. Returns True if a file was changed."""
    now = english_hash(item.entry)
    stale = [item.translated[code].document.path for code, text in item.translations.items() if text.of != now]
    for path in stale:
        text = path.read_text(encoding="utf-8")
        line = f'of: "{now}"'
        path.write_text(_OF.sub(line, text, count=1) if _OF.search(text) else f"{line}\n{text}", encoding="utf-8")
    return bool(stale)
