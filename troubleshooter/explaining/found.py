"""What is known of a failure's place before it is put into the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.observe.model import Frame


@dataclass
class FoundPlace:
    """``frame``: where it was raised, None for the innermost frame. ``condition``: in words, "" where it is not known."""

    frame: Frame | None
    condition: str
    origins: list[Origin] = field(default_factory=list)
    remedies: list[Remedy] = field(default_factory=list)
    basis: Literal["source", "index", "rule"] = "source"
    places: int = 1
