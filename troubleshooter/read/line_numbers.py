"""Line numbers that a viewer put before each line (``grep -n``, ``cat -n``, ``nl``, an editor). They are recognised because
they count up."""

from __future__ import annotations

import re
from itertools import islice, pairwise

from kb import lazy

MIN_LINES, SAMPLE_LINES = 5, 40
"""Lines count as numbered if at least `MIN_LINES` of the first `SAMPLE_LINES` are."""

_NUMBER = lazy.compile(rb" {0,7}(?P<number>[1-9]\d{0,6})(?:[:\-|]|\t| {1,2}\|? ?)")


def line_number_pattern(piece: bytes) -> re.Pattern[bytes] | None:
    """The pattern of the line numbers in a log that begins with this text; None if no viewer numbered its lines.

    ``srun --label`` also writes numbers: ranks start at 0 and come again, while line numbers go up by one.
    """
    if not piece[:8].lstrip(b" ")[:1].isdigit() or _NUMBER.match(piece) is None:
        return None
    lines = [line for line in islice(piece.split(b"\n", SAMPLE_LINES), SAMPLE_LINES) if line.strip()]
    numbers = [int(found["number"]) for line in lines if (found := _NUMBER.match(line))]
    if len(numbers) < max(MIN_LINES, len(lines)) or any(b - a != 1 for a, b in pairwise(numbers)):
        return None
    return _NUMBER
