"""Which frames the anchor's traceback has."""

from __future__ import annotations

from kb.compiled_conditions import FrameCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.observe.model import Frame
from troubleshooter.paths import below_site_packages


def evaluate(condition: FrameCondition, context: Context) -> Outcome:
    """Whether a frame of the anchor's traceback is in one of the files and functions."""
    said = f"frame {' or '.join(condition['paths'])}" + (" innermost" if condition["at"] == "innermost" else "")
    failure = context.anchor.failure if context.anchor else None
    if failure is None or not failure.frames:
        return Outcome("unseen", said)
    frames = failure.frames[-1:] if condition["at"] == "innermost" else failure.frames
    for one in reversed(frames):
        if is_at(condition, one):
            text = f"{below_site_packages(one.path)}:{one.line} in {one.function}"
            return Outcome("held", said, [Evidence(one.seen or failure.start, text, "the frame")])
    cut = failure.cut and condition["at"] == "anywhere"
    return Outcome("unseen" if cut else "contradicted", said)


def is_at(condition: FrameCondition, frame: Frame) -> bool:
    """Whether a frame is in one of the files and functions of the condition. A path begins as if below a folder, so that
    ``/train.py`` also finds the ``train.py`` of a run in its own folder."""
    path = frame.path if frame.path.startswith("/") else f"/{frame.path}"
    return any(part in path for part in condition["paths"]) and (
        not condition["functions"] or frame.function.rpartition(".")[2] in condition["functions"]
    )
