"""Drawn by Rich: the condition stands in the box, above the line that raised."""

from pathlib import Path


def find_last(folder, resume):
    steps = sorted(Path(folder).glob("step-*"))
    if resume and not steps:
        raise RuntimeError("cannot go on from where the last run ended")
    return steps


find_last("runs", True)
