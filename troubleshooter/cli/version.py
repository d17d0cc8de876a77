"""``--version``: the program's version, the number of entries, and the date of their last change."""

from __future__ import annotations

from kb.known import knowledge_date, known_ids
from kb.text.catalog import Section
from troubleshooter import __version__

_say = Section("version")


def version(lang: str) -> str:
    """The line that ``--version`` prints. The date is that of the last recorded change of the entries; without a record it is left out."""
    count, date = len(known_ids()), knowledge_date()
    day = _say("changed", lang, date=date) if date else _say("undated", lang)
    told = _say("knowledge", lang, count=count, date=day)
    return f"troubleshoot {__version__} ({told})"
