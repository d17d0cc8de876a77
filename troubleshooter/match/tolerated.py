"""Which conditions may stay unseen in a required place."""

from __future__ import annotations

from kb.compiled_conditions import TOLERATED, Condition


def tolerated(condition: Condition) -> bool:
    """Whether the condition is of a kind that a paste often lacks: required and not seen, it only lowers the confidence."""
    return condition["kind"] in TOLERATED or condition["kind"] == "not"
