"""Patterns of entries, run by RE2: linear in the text whatever an entry or a log says."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

_options = re2.Options()
_options.log_errors = False


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Any:
    """The compiled pattern; `kb.patterns` has checked its syntax."""
    return re2.compile(pattern, _options)


def search(pattern: str, text: str) -> Any:
    """The first match anywhere in the text, or None."""
    return compiled(pattern).search(text)
