"""Names → files: the place of a URL, the files of a job. One per process, since connections belong to a process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import FileIO, RawIOBase
from pathlib import Path
from types import TracebackType

from kb.errors import UsageError
from troubleshooter.read.folder import Skip
from troubleshooter.read.sources import Source, Unreadable, from_opener, from_path
from troubleshooter.scan.places import archives
from troubleshooter.scan.places.archives import Copies
from troubleshooter.scan.places.listed import ListedLog, LogPlace
from troubleshooter.scan.places.names import is_archive, member_of, scheme_of
from troubleshooter.scan.places.patience import Patience

SCHEMES = ("s3", "gs", "hf", "sftp")


class LogPlaces:
    """The places that were opened so far; a context, since it holds copies of archives. ``patience`` holds for all places.

    ``copies``: by archive, the path of a copy that another process made.
    """

    def __init__(self, patience: Patience | None = None, copies: Mapping[str, str] | None = None) -> None:
        self._patience = patience or Patience()
        self._open: dict[str, LogPlace] = {}
        self._copies = Copies(copies)

    def __enter__(self) -> LogPlaces:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._copies.remove()

    @property
    def copies(self) -> dict[str, str]:
        """By archive: the path of its copy."""
        return self._copies.paths

    def place(self, url: str) -> LogPlace:
        """The place that a URL lies in. Raises `UsageError` for a scheme that nobody knows, `MissingPackage`."""
        scheme = scheme_of(url) or ""
        if scheme not in SCHEMES:
            raise UsageError(
                f"{url}: {scheme}:// is none of the places that can be scanned: "
                + ", ".join(f"{known}://" for known in SCHEMES)
            )
        where = "/".join(url.split("/", 3)[:3]) if scheme == "sftp" else scheme
        if where not in self._open:
            if scheme == "sftp":
                from troubleshooter.scan.places.sftp import SftpPlace

                self._open[where] = SftpPlace(url, self._patience)
            else:
                from troubleshooter.scan.places.objects import open_store

                self._open[where] = open_store(scheme, self._patience)
        return self._open[where]

    def listing(self, name: str, skip: Skip) -> Iterator[ListedLog]:
        """The logs that a URL or an archive of this machine stands for. Raises as `place` does."""
        if scheme_of(name) in (None, "file"):
            path = name.removeprefix("file://")
            yield from self._in_archive(path, lambda: FileIO(path), skip)
            return
        place = self.place(name)
        for found in place.listing(name, skip):
            if found.path == name and is_archive(name):
                yield from self._in_archive(name, lambda: place.opened(name), skip)
            else:
                yield found

    def sources(self, files: Iterable[str], written: float) -> list[Source]:
        """The sources of a job's files, which were last written to at ``written``. Raises `Unreadable`."""
        return [source for file in files for source in self._sources(file, written)]

    def _sources(self, file: str, written: float) -> list[Source]:
        member = member_of(file)
        if member is not None and not os.path.lexists(file):
            path = self.copies.get(member.archive, member.archive)
            return [from_opener(file, lambda: archives.opened(path, member.name, file))]
        if scheme_of(file) is not None:
            place = self.place(file)
            return [from_opener(file, lambda: place.opened(file), written or None)]
        return from_path(Path(file))

    def _in_archive(self, archive: str, opened: Callable[[], RawIOBase], skip: Skip) -> Iterator[ListedLog]:
        in_place = scheme_of(archive) is None and archives.is_read_in_place(archive)
        try:
            path = archive if in_place else self._copies.of(archive, opened)
        except Unreadable as error:
            skip(archive, str(error))
            return
        yield from archives.listing(archive, path, skip)
