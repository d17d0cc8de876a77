"""Troubleshoot: reads the log of a failed fine-tuning run and names the failure, its evidence, its cause and its fix.

The data flows one way: ``read`` (bytes → lines) → ``observe`` (lines → observations) → ``match`` (observations ×
entries → candidates) → ``rank`` (candidates → diagnoses) → ``report`` (one model, several renderers); ``verify`` runs
an entry's probe. `diagnose` is the whole way for Python callers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from troubleshooter.pipeline import diagnose
    from troubleshooter.report.model import Report

__all__ = ["Report", "__version__", "diagnose"]


def __getattr__(name: str) -> Any:
    """`diagnose` and `Report` are imported when they are asked for: the command line needs only parts."""
    if name == "diagnose":
        from troubleshooter.pipeline import diagnose

        return diagnose
    if name == "Report":
        from troubleshooter.report.model import Report

        return Report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
