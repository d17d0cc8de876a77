"""The user's home folder, if there is one."""

from __future__ import annotations

import os


def home() -> str | None:
    """The folder, or None for a user without ``HOME`` and without an entry in the password file (a container's often)."""
    found = os.path.expanduser("~")
    return None if found in ("~", "") else found
