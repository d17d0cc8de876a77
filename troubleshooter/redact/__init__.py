"""Takes out of a log what should not be shared: keys, passwords, mail addresses, names of people and machines.

A redacted log has as many lines as before and gives the same diagnosis (tests say so).
"""

from __future__ import annotations

from troubleshooter.redact.redactor import Redactor

__all__ = ["Redactor", "counted", "redact"]

_KINDS = {
    "token": ("key, password or token", "keys, passwords or tokens"),
    "private-key": ("private key", "private keys"),
    "user": ("user name", "user names"),
    "host": ("host name", "host names"),
    "mail": ("mail address", "mail addresses"),
    "ip": ("network address", "network addresses"),
}


def counted(kind: str, count: int) -> str:
    """How a kind of what was taken out (`Redactor.taken`) is called."""
    return _KINDS[kind][count != 1]


def redact(text: str) -> str:
    """The text without secrets and personal names."""
    return Redactor().redact(text)
