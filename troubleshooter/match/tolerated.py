"""Which required conditions may stay unseen."""

from __future__ import annotations

from kb.compiled_conditions import TOLERATED, Condition


def tolerated(condition: Condition) -> bool:
    """Whether a paste often lacks what the condition asks for. Such a condition, if required and not seen, only lowers
    the confidence."""
    return condition["kind"] in TOLERATED or condition["kind"] == "not"
