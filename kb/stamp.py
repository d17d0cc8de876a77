"""Marking a translation as fitting: the hash of the English goes into ``zh.yaml``."""

from __future__ import annotations

import re

from kb.load import Loaded, english_hash

_OF = re.compile(r"^of:.*$", re.MULTILINE)


def stamp(item: Loaded) -> bool:
    """Write the hash where it differs; True when the file was changed."""
    if item.chinese is None or item.chinese_document is None or item.chinese.of == (now := english_hash(item.entry)):
        return False
    path = item.chinese_document.path
    text = path.read_text(encoding="utf-8")
    line = f'of: "{now}"'
    path.write_text(_OF.sub(line, text, count=1) if _OF.search(text) else f"{line}\n{text}", encoding="utf-8")
    return True
