"""Checks inside a run, during its first steps and then now and then: a mistake is told before it has cost the run.

    from troubleshooter.callbacks import TroubleshootCallback      # Trainer of transformers, and all that is built on it
    from troubleshooter.callbacks import LightningTroubleshooter   # Lightning
    from troubleshooter.callbacks import watch                     # a loop of your own

Each finding is one line on standard error, with the id of the entry that explains it. A healthy run prints nothing. transformers,
Lightning and torch are imported when one of these names is asked for, and not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from troubleshooter.callbacks.huggingface import TroubleshootCallback
    from troubleshooter.callbacks.pytorch_lightning import LightningTroubleshooter
    from troubleshooter.callbacks.watcher import GradientsNotFinite, Watcher, watch

__all__ = ["GradientsNotFinite", "LightningTroubleshooter", "TroubleshootCallback", "Watcher", "watch"]

_PLACES = {
    "GradientsNotFinite": "watcher",
    "LightningTroubleshooter": "pytorch_lightning",
    "TroubleshootCallback": "huggingface",
    "Watcher": "watcher",
    "watch": "watcher",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
