"""``--version``: the program's version, and how much the knowledge holds and from when it is."""

from __future__ import annotations

from kb.known import knowledge_date, known_ids
from troubleshooter import __version__


def version(lang: str) -> str:
    """One line. The date is that of the last recorded change of the entries; without a record none is claimed."""
    count, date = len(known_ids()), knowledge_date()
    if lang == "zh":
        told = f"知识库：{count} 个条目，" + (f"截至 {date}" if date else "日期未记录")
    else:
        told = f"knowledge: {count} entries, " + (f"last changed {date}" if date else "date not recorded")
    return f"troubleshoot {__version__} ({told})"
