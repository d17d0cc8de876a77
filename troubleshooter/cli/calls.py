"""Adapters for commands whose options differ in form from the arguments of the function that does the work."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

from kb.errors import UsageError
from troubleshooter.cli.options import Options

GC_THRESHOLD_OBJECTS = 100_000
"""Garbage is collected after this many new objects: nearly all that is made from one log is kept until the end
(docs/decisions/0003)."""


def diagnose(**given: Any) -> int:
    """Run a diagnosis. Garbage collection is put off, as nearly everything that is imported and made is kept until the end."""
    gc.disable()
    from troubleshooter.cli.run import run

    gc.freeze()
    gc.set_threshold(GC_THRESHOLD_OBJECTS)
    gc.enable()
    return run(Options(**given))


def explain(entry: str, log: Path | None, reading: bool, entries: list[Path], lang: str) -> int:
    """Call `knowledge.explain`, or with ``reading`` show how a log was read; then the log is the only argument."""
    if reading:
        from troubleshooter.cli.reading import show

        if log is not None:
            raise UsageError("explain --reading: give one log, and no entry")
        return show(Path(entry), entries, lang)
    from troubleshooter.cli import knowledge

    if log is None:
        raise UsageError(f"explain: give an entry and a log; to see how a log is read: explain --reading {entry}")
    return knowledge.explain(entry, log, entries, lang)


def check(schema: bool, report_schema: bool, **given: Any) -> int:
    """Call `author.check`, or print a schema."""
    from troubleshooter.cli import author

    return author.schema(report_schema) if schema or report_schema else author.check(**given)


def verify(record: bool, record_to: Path | None, **given: Any) -> int:
    """Call `troubleshooter.verify.command.verify`, which takes both options as one ``record``: a flag or a folder."""
    from troubleshooter.verify.command import verify as prove

    return prove(record=record_to or record, **given)
