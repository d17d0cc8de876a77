"""Remove from a log what should not be shared: keys, passwords, mail addresses, names of people and machines.

A redacted log has the same number of lines and gets the same diagnosis; ``tests/redact`` tries both. The decision page
``docs/decisions/0012-own-rules-of-redaction.md`` says why the rules are our own and not a library's.
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
    """The English words for ``count`` removed values of a kind (a key of `Redactor.taken`)."""
    return _KINDS[kind][count != 1]


def redact(text: str) -> str:
    """The text with secrets and personal names replaced by placeholders."""
    return Redactor().redact(text)
