"""The answers of the index of messages: messages with their places and releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, overload

from kb.errors import TroubleshootError
from kb.index.fit import Extent
from kb.index.place import Piece
from kb.index.record import StoredSite


class IndexUnreadable(TroubleshootError):
    """The index of messages is missing or is no index that this release can read."""


class IndexedMessage(NamedTuple):
    """One message of the index. What was printed decides its values, extent and quality."""

    package: str
    kind: str
    """A `kb.index.place.Kind`, or ``compiled`` for a text of a compiled library, which has no function and no guards."""
    exception: str | None
    level: str | None
    template: tuple[Piece, ...]
    """The text with its holes. The expressions are those of the first site."""
    quality: int
    """The number of literal characters (without white space) that the printed text shares with the template."""
    extent: Extent
    values: tuple[tuple[str, str | None], ...]
    """For each hole: its expression, and the text printed there (None if the message was cut before the hole)."""
    sites: tuple[StoredSite, ...]
    """The places that print it. Those in the function that was asked for come first, then those of the latest releases."""
    in_function: bool
    """Whether the first places are in the function that was asked for."""
    releases: tuple[tuple[str, str], ...]
    """The first and the last release of each unbroken run of releases that have the message, oldest first. The index has not read
    every release, so the message may have come with an unread release just before the first one."""
    first_is_oldest: bool
    """Whether the oldest release that was read has the message. Then it is not known when the message came."""
    last_is_newest: bool
    """Whether the newest release that was read has the message."""
    replaced: str | None
    """The message that replaced it, if it vanished and one did."""


class ReleaseChanges(NamedTuple):
    """How the messages of a package changed with one release."""

    release: str
    arrived: int
    vanished: int


class PackageMessages(Sequence[IndexedMessage]):
    """A sequence of messages. Each is read from the file when it is used."""

    def __init__(self, read: Callable[[int], IndexedMessage], slots: list[int]) -> None:
        self._read = read
        self._slots = slots

    def __len__(self) -> int:
        return len(self._slots)

    @overload
    def __getitem__(self, at: int) -> IndexedMessage: ...
    @overload
    def __getitem__(self, at: slice) -> list[IndexedMessage]: ...
    def __getitem__(self, at: int | slice) -> IndexedMessage | list[IndexedMessage]:
        return [self._read(slot) for slot in self._slots[at]] if isinstance(at, slice) else self._read(self._slots[at])
