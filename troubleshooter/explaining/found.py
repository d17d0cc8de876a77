"""What is known of a failure's place before it is put into the report."""

from __future__ import annotations

from typing import Literal

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.observe.model import Frame


class FoundPlace:
    """``frame``: where it was raised, None for the innermost frame. ``condition``: in words, "" where it is not known.

    A plain class: making a dataclass takes a millisecond of each start that explains something.
    """

    def __init__(
        self,
        frame: Frame | None,
        condition: str,
        origins: list[Origin],
        remedies: list[Remedy],
        basis: Literal["source", "index", "rule"] = "source",
        places: int = 1,
    ) -> None:
        self.frame = frame
        self.condition = condition
        self.origins = origins
        self.remedies = remedies
        self.basis = basis
        self.places = places
