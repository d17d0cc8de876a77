"""Make file names and text of logs safe to print. Neither can be trusted: a name may hold any byte, a record any text."""

from __future__ import annotations

import os
import shlex


def printable(text: str) -> str:
    r"""Escape (as in ``\x1b``) each character that a terminal would obey, hide or fail to encode."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def shell_word(path: str) -> str:
    """Quote a path as one word for a POSIX shell, using printable characters only."""
    if path.isprintable():
        return shlex.quote(path)
    quoted = "".join("\\" + char if char in "\\'" else char if char.isprintable() else _bytes(char) for char in path)
    return f"$'{quoted}'"


def _escaped(char: str) -> str:
    if 0xDC80 <= (code := ord(char)) <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(char))
