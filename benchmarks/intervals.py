"""Shares as text with their 95 % confidence intervals."""

from __future__ import annotations

from troubleshooter.history.significance import wilson


def share(good: int, total: int) -> str:
    """A share as text with its interval: ``"43.0% (36%-50%)"``."""
    low, high = wilson(good, total)
    return f"{good / max(1, total):.1%} ({low:.0%}-{high:.0%})"
