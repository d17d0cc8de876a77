"""Tar and zip archives. Their files are read in place; only an archive that is compressed as a whole, or lies elsewhere, is
first copied, unpacked, to a temporary folder, since one file in the middle of it could not be reached otherwise."""

from __future__ import annotations

import calendar
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO

from troubleshooter.read.decoders import MAGIC_BYTES, Damaged, packing, unpacked
from troubleshooter.read.folder import Skip
from troubleshooter.read.sources import Unreadable
from troubleshooter.read.text import CHUNK
from troubleshooter.scan.places.listed import FetchedFile, ListedLog, may_be_log
from troubleshooter.scan.places.names import name_in
from troubleshooter.scan.places.patience import Unreachable, reason

_BLOCK_BYTES = 1024 * 1024


class Copies:
    """Unpacked copies of archives. ``paths``: by the archive's name, where its copy lies. ``made`` were made by another process."""

    def __init__(self, made: Mapping[str, str] | None = None) -> None:
        self.paths: dict[str, str] = dict(made or {})
        self._folder: Path | None = None

    def remove(self) -> None:
        """Remove the copies that were made here."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def of(self, archive: str, opened: Callable[[], RawIOBase]) -> str:
        """The path of an unpacked copy of this archive, which ``opened`` opens. Raises `Unreadable`, also where there is no
        room for it; an archive that is damaged from some place on is copied up to there."""
        if archive not in self.paths:
            self._folder = self._folder or Path(tempfile.mkdtemp(prefix="troubleshoot-scan-"))
            path = self._folder / str(len(self.paths))
            try:
                with path.open("wb") as copy, opened() as raw, BufferedReader(raw, CHUNK) as file, suppress(Damaged):
                    kind = packing(file.peek(MAGIC_BYTES))
                    for chunk in unpacked(file, kind) if kind else iter(lambda: file.read1(CHUNK), b""):
                        copy.write(chunk)
            except OSError as error:
                with suppress(OSError):
                    path.unlink()
                raise Unreachable(
                    f"{archive}: its copy in {self._folder} cannot be made: {error.strerror}; set TMPDIR to a disk with more room"
                ) from error
            self.paths[archive] = str(path)
        return self.paths[archive]


def is_read_in_place(path: str) -> bool:
    """Whether any file of an archive on this machine can be reached without unpacking those before it."""
    return path.lower().endswith((".zip", ".tar"))


def listing(archive: str, path: str, skip: Skip) -> Iterator[ListedLog]:
    """The logs in an archive. ``archive`` is its name, ``path`` where it, or its copy, lies on this machine."""
    try:
        if zipfile.is_zipfile(path):
            yield from _zip_listing(archive, path, skip)
        else:
            yield from _tar_listing(archive, path, skip)
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
        skip(archive, f"a damaged archive, listed as far as it can be read: {reason(error)}")


def opened(path: str, name: str, shown: str) -> RawIOBase:
    """A file of an archive at ``path``; ``shown`` is what it is called. Raises `Unreadable`, as its reader does."""
    try:
        file = _open_member(path, name)
    except (KeyError, tarfile.TarError, zipfile.BadZipFile, RuntimeError, OSError) as error:
        raise Unreadable(f"{shown}: cannot be read: {reason(error)}") from error

    def fetch(offset: int, length: int) -> bytes:
        try:
            return file.read(length)
        except Exception as error:  # zlib, lzma and zipfile share no base
            raise Unreadable(f"{shown}: damaged in the archive: {reason(error)}") from error

    return FetchedFile(fetch, _BLOCK_BYTES)


def _open_member(path: str, name: str) -> IO[bytes]:
    archive, members = _archive(path)
    file = archive.extractfile(members[name]) if isinstance(archive, tarfile.TarFile) else archive.open(name)
    if file is None:
        raise KeyError(f"{name} is no file")
    return file


@lru_cache(maxsize=4)
def _archive(path: str) -> tuple[zipfile.ZipFile | tarfile.TarFile, dict[str, tarfile.TarInfo]]:
    """An open archive, and the files of a tar by name, as far as it can be read. The last one of a name counts."""
    if zipfile.is_zipfile(path):
        return zipfile.ZipFile(path), {}
    archive = tarfile.open(path, "r:")  # noqa: SIM115 - stays open for the files to come
    members: dict[str, tarfile.TarInfo] = {}
    with suppress(tarfile.TarError, EOFError):
        members.update((info.name, info) for info in archive)
    return archive, members


def _zip_listing(archive: str, path: str, skip: Skip) -> Iterator[ListedLog]:
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            if info.is_dir() or not may_be_log(info.filename):
                continue
            if info.flag_bits & 1:
                skip(name_in(archive, info.filename), "encrypted")
                continue
            try:
                modified = float(calendar.timegm((*info.date_time, 0, 0, 0)))
            except ValueError:
                modified = 0.0
            stamp = f"{info.file_size}:{info.CRC:08x}"
            yield ListedLog(name_in(archive, info.filename), stamp, max(modified, 0.0), info.file_size)


def _tar_listing(archive: str, path: str, skip: Skip) -> Iterator[ListedLog]:
    with tarfile.open(path, "r:") as file:
        for info in file:
            if not info.isreg() or not may_be_log(info.name.removeprefix("./")):
                continue
            if info.issparse():
                skip(name_in(archive, info.name), "a sparse file")
                continue
            modified = min(max(float(info.mtime), 0.0), 1e11)
            yield ListedLog(name_in(archive, info.name), f"{info.size}:{info.mtime}", modified, info.size)
