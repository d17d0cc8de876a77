"""Troubleshoot: reads the log of a failed fine-tuning run and names the failure, its evidence, its cause and its fix.

    import troubleshooter

    print(troubleshooter.diagnose_file("train.log"))
    report = troubleshooter.diagnose(error)        # an exception that was caught; in a notebook: sys.last_value
    report.diagnoses[0].id, report.diagnoses[0].fixes

`diagnose` takes the text of a log, its lines, a `pathlib.Path` or an exception; a `Diagnoser` does so for many logs.

The data flows one way: ``read`` (bytes → lines) → ``observe`` (lines → observations) → ``match`` (observations ×
entries → candidates) → ``rank`` (candidates → diagnoses) → ``report`` (one model, several renderers); ``verify`` runs
an entry's probe.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat this like `typing.TYPE_CHECKING`, without importing `typing`

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import Any

    from kb.errors import TroubleshootError
    from kb.problem import EntryError as InvalidEntries
    from troubleshooter.pipeline import Diagnoser, diagnose, diagnose_file
    from troubleshooter.read.sources import Unreadable as UnreadableInput
    from troubleshooter.report.model import Diagnosis, Report

__all__ = [
    "Diagnoser",
    "Diagnosis",
    "InvalidEntries",
    "Report",
    "TroubleshootError",
    "UnreadableInput",
    "__version__",
    "diagnose",
    "diagnose_file",
]

_PLACES = {
    "Diagnoser": ("troubleshooter.pipeline", "Diagnoser"),
    "Diagnosis": ("troubleshooter.report.model", "Diagnosis"),
    "InvalidEntries": ("kb.problem", "EntryError"),
    "Report": ("troubleshooter.report.model", "Report"),
    "TroubleshootError": ("kb.errors", "TroubleshootError"),
    "UnreadableInput": ("troubleshooter.read.sources", "Unreadable"),
    "diagnose": ("troubleshooter.pipeline", "diagnose"),
    "diagnose_file": ("troubleshooter.pipeline", "diagnose_file"),
    # ``%load_ext troubleshooter`` looks for these.
    "load_ipython_extension": ("troubleshooter.notebook", "load_ipython_extension"),
    "unload_ipython_extension": ("troubleshooter.notebook", "unload_ipython_extension"),
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are asked for: importing this package costs next to nothing."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
