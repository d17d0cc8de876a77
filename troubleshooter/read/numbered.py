"""Line numbers that a viewer put before each line (``grep -n``, ``cat -n``, ``nl``, an editor): known by counting up."""

from __future__ import annotations

import re
from itertools import islice, pairwise

from kb import lazy

LEAST, LOOKED_AT = 5, 40
"""Lines that must carry a number, and lines at the start that are looked at."""

_NUMBER = lazy.compile(rb" {0,7}(?P<number>[1-9]\d{0,6})(?:[:\-|]|\t| {1,2}\|? ?)")


def numbering(piece: bytes) -> re.Pattern[bytes] | None:
    """What to take off each line of a log that starts so, or None.

    The ranks that ``srun --label`` puts there start at 0 and come again; line numbers go up by one.
    """
    if not piece[:8].lstrip(b" ")[:1].isdigit() or _NUMBER.match(piece) is None:
        return None
    lines = [line for line in islice(piece.split(b"\n", LOOKED_AT), LOOKED_AT) if line.strip()]
    numbers = [int(found["number"]) for line in lines if (found := _NUMBER.match(line))]
    if len(numbers) < max(LEAST, len(lines)) or any(b - a != 1 for a, b in pairwise(numbers)):
        return None
    return _NUMBER
