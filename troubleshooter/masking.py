"""Remove the parts of a text that differ from run to run, so that texts can be compared. Each purpose has its function."""

from __future__ import annotations

from kb import lazy

_DIGITS = "0123456789"
_RAW_DIGITS = _DIGITS.encode()
_NO_DIGITS = str.maketrans("", "", _DIGITS)
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")

_ADDRESS = r"0x[0-9a-fA-F]+"
_ADDRESS_OR_DIGITS = lazy.compile(rf"{_ADDRESS}|\d+")
_OF_ONE_RUN = lazy.compile(
    rf"{_ADDRESS}|[0-9a-f]{{8}}-[0-9a-f]{{4}}-[0-9a-f-]{{22}}|(?:/[\w.@+-]+){{2,}}/?|[A-Za-z]:\\\S+|\d+(?:\.\d+)*|\b[0-9a-f]{{12,}}\b"
)
_ID = lazy.compile(r"[0-9a-f]{12,}|\d+")
_OF_ONE_USER = lazy.compile(rf"{_ADDRESS}|\d+(?:\.\d+)?|/[\w./-]{{4,}}|'[^']{{1,80}}'|\"[^\"]{{1,80}}\"")


def without_digits(text: str) -> str:
    """A line without its digits, which is called its kind. The lines that a loop prints have the same kind."""
    return text.translate(_NO_DIGITS)


def without_digits_raw(raw: bytes) -> bytes:
    """The kind of a line that is not decoded."""
    return raw.translate(None, _RAW_DIGITS)


def zero_digits(raw: bytes) -> bytes:
    """The template of a line: ``0`` for each digit. Positions in the template are positions in the line."""
    return raw.translate(_TO_ZERO)


def mask_numbers(message: str) -> str:
    """A message without addresses and numbers, so that it is the same for all ranks of one run. Paths are kept, because
    they are the same for all."""
    return _ADDRESS_OR_DIGITS.sub("0", message)


def mask_run(message: str) -> str:
    """A message that is the same for different runs: also without paths and ids."""
    return _OF_ONE_RUN.sub("#", message)


def mask_ids(name: str) -> str:
    """A name or path that is the same for different runs: without numbers and long hexadecimal ids."""
    return _ID.sub("#", name)


def constant_parts(message: str) -> list[str]:
    """The parts of a message that are the same in other users' logs: the text between numbers, paths and quoted names."""
    return _OF_ONE_USER.split(message)
