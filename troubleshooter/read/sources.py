"""Turn what the user names into inputs: files (plain or compressed), folders (one run each), notebooks, standard input."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Protocol

from kb import lazy
from kb.errors import TroubleshootError
from troubleshooter.read.decoders import MAGIC_BYTES, Damaged, packing, unpacked
from troubleshooter.read.folder import log_files, named_like_crash_facts
from troubleshooter.read.text import CHUNK, ENCODING_BYTES, encoding, recode

WRITTEN_SECONDS = 600.0
"""A log that was written to within this time may belong to a run that is still going on. Runs that log every few steps
write less often than they step."""
FILES = 4096
"""At most this many files of one folder are read as one run."""
FILES_OF_FACTS = 64
"""At most this many files of crash facts are read: one for each rank."""

_RANK = (
    lazy.compile(r"(?:^|[/_.\-])(?:rank|task|proc|worker|local_rank)[_\-]?(\d{1,5})(?=[/_.\-]|$)"),
    lazy.compile(r"attempt_\d+/(\d{1,5})/"),
    lazy.compile(r"(?:^|/)(\d{1,4})/(?:std(?:out|err)|error)[^/]*$"),
    lazy.compile(r"slurm-\d+[_.\-](\d{1,5})\.\w+$"),
    lazy.compile(r"\d{3}[_.\-](\d{1,4})\.(?:out|err|log)$"),
)


class Chunks(Protocol):
    """A function that opens an input and returns its bytes in chunks."""

    def __call__(self) -> Iterator[bytes]: ...


class Stop(NamedTuple):
    """The signal that ended a run or the reading of a live pipe, and how long before it the last output came (None: not seen)."""

    signal: Literal["SIGINT", "SIGTERM", "SIGHUP"]
    silent_s: float | None


class Source:
    """One input of a report: its name, its bytes, and the rank in its name."""

    __slots__ = (
        "chunks",
        "damaged",
        "descriptor",
        "excerpt",
        "facts",
        "name",
        "notebook",
        "path",
        "rank",
        "stop",
        "written",
    )

    def __init__(
        self,
        name: str,
        chunks: Chunks,
        rank: int | None = None,
        path: Path | None = None,
        notebook: bool = False,
        damaged: str = "",
        stop: Stop | None = None,
        descriptor: int | None = None,
        excerpt: bool = False,
        facts: bool = False,
    ) -> None:
        self.name = name
        self.chunks = chunks
        self.rank = rank
        self.path = path
        self.notebook = notebook
        self.damaged = damaged
        """Set by reading: what is wrong with a file that could only be read up to some place."""
        self.stop = stop
        """Set by reading: the signal that stopped the run which writes the log, if any."""
        self.descriptor = descriptor
        """The file descriptor of a stream; None if it has none."""
        self.excerpt = excerpt
        """True if it is only a part of a log, as a paste is. Then its end says nothing about the end of the run."""
        self.facts = facts
        """True if it is not a log but a file of crash facts, which `troubleshooter.hook` wrote."""
        self.written: float | None = None
        """When it was last written to, in seconds since 1970; None where ``path`` or ``descriptor`` tell it, or nothing does."""

    @property
    def piped(self) -> bool:
        """Whether the log comes through a pipe. A pipe does not show how the program at its other end ended."""
        with suppress(OSError):
            return self.descriptor is not None and stat.S_ISFIFO(os.fstat(self.descriptor).st_mode)
        return False

    def being_written(self) -> bool:
        """Whether it is a file that was written to within the last `WRITTEN_SECONDS`."""
        if self.written is not None:
            return time.time() - self.written < WRITTEN_SECONDS
        with suppress(OSError):
            if self.path is not None:
                return time.time() - self.path.stat().st_mtime < WRITTEN_SECONDS
            if self.descriptor is not None and stat.S_ISREG((state := os.fstat(self.descriptor)).st_mode):
                return time.time() - state.st_mtime < WRITTEN_SECONDS
        return False


class Unreadable(TroubleshootError):
    """An input cannot be read. The message is one sentence with the place and the next step."""

    passes = False
    """Whether the same input may be readable a while later."""


class NoSuchFile(Unreadable):
    """There is no file of this name: it may have been moved, or lie on a file system that is not mounted here."""

    passes = True


def from_path(path: Path) -> list[Source]:
    """The sources of a file, or of all logs of a folder. Raises `Unreadable`."""
    try:
        return _folder(path) if stat.S_ISDIR(os.stat(path).st_mode) else [_file(path, str(path))]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoSuchFile(
            f"{path}: no such file; check the name, or pipe the log in: command 2>&1 | troubleshoot"
        ) from error
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def from_stream(stream: IO[bytes], name: str = "standard input") -> Source:
    """Standard input or any open binary stream. Its bytes are read as they arrive."""
    read1 = getattr(stream, "read1", stream.read)

    def chunks() -> Iterator[bytes]:
        while chunk := read1(CHUNK):
            yield chunk

    descriptor = None
    with suppress(OSError, AttributeError, ValueError):
        descriptor = stream.fileno()
    return Source(name, lambda: decoded(chunks()), descriptor=descriptor)


def from_text(parts: str | bytes | Iterable[str | bytes], name: str = "text") -> Source:
    """A log as text, bytes, or an iterable of lines (a line end is added where one is missing)."""

    def chunks() -> Iterator[bytes]:
        if isinstance(parts, (str, bytes)):
            yield parts.encode("utf-8", "replace") if isinstance(parts, str) else parts
            return
        for part in parts:
            raw = part.encode("utf-8", "replace") if isinstance(part, str) else part
            yield raw if raw.endswith(b"\n") else raw + b"\n"

    return Source(name, lambda: decoded(chunks()))


def _folder(path: Path) -> list[Source]:
    logs = sorted((Path(log.path) for log in log_files(str(path), _passed_over)), key=lambda item: item.parts)
    sources = []
    facts = [item for item in logs if named_like_crash_facts(item.name)][:FILES_OF_FACTS]
    for item in [*(item for item in logs if not named_like_crash_facts(item.name)), *facts][:FILES]:
        if _is_no_log(item):
            continue
        name = item.relative_to(path).as_posix()
        source = _file(item, str(item))
        source.rank = rank_of(name)
        sources.append(source)
    if not sources:
        raise Unreadable(
            f"{path}: holds no log; expected files such as *.log, *.out, *.err or torchrun's attempt_0/0/stderr.log"
        )
    return sources


_TEXT_SUFFIXES = frozenset((".log", ".out", ".err", ".txt", ".json", ".jsonl", ".ipynb"))


def _is_no_log(path: Path) -> bool:
    """Whether a file of a run's folder that is not named as a text holds something else: a core dump, a checkpoint, events."""
    if path.suffix.lower() in _TEXT_SUFFIXES:
        return False
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(BINARY_BYTES)
    except OSError:
        return False  # told where it is read
    # A log that was emptied while it was written begins with a hole.
    return bool(head.strip(b"\0")) and packing(head[:MAGIC_BYTES]) is None and encoding(head) is None and binary(head)


def _passed_over(path: str, reason: str) -> None:
    """Ignore a file that is not a log, because a run's folder may hold anything."""


def rank_of(name: str) -> int | None:
    """The rank in a file's name (torchrun ``--log-dir``, Slurm ``%t``, ``rank3.log``); None if it has none."""
    if not any(map(str.isdigit, name)):
        return None
    for pattern in _RANK:
        if found := pattern.search(name):
            return int(found[1])
    return None


def _file(path: Path, name: str) -> Source:
    source = from_opener(name, lambda: path.open("rb", buffering=0))
    source.path = path
    return source


def from_opener(name: str, opened: Callable[[], RawIOBase], written: float | None = None) -> Source:
    """A file that ``opened`` opens, from its start each time; it is decompressed if it is compressed. Its name tells the rank,
    and whether it is a notebook or holds crash facts.

    ``written``: when it was last written to, in seconds since 1970, where no path on this machine tells it. What ``opened``
    and its reader raise should be `Unreadable` or OSError, which becomes one.
    """

    def chunks() -> Iterator[bytes]:
        source.damaged = ""
        try:
            with opened() as raw, BufferedReader(raw, CHUNK) as file:
                yield from decoded(_bytes(file, source))
        except OSError as error:
            raise Unreadable(f"{name}: cannot be read: {error.strerror or error}") from error

    is_facts = named_like_crash_facts(os.path.basename(name))
    source = Source(name, chunks, rank_of(name), notebook=name.endswith(".ipynb"), facts=is_facts)
    source.written = written
    return source


def _bytes(file: BufferedReader[Any], source: Source) -> Iterator[bytes]:
    """The bytes of an open file, decompressed if it is compressed. Raises `Unreadable` if nothing can be read."""
    kind = packing(file.peek(MAGIC_BYTES))
    if kind is None:
        yield from iter(lambda: file.read1(CHUNK), b"")
        return
    some = False
    try:
        for chunk in unpacked(file, kind):
            some = True
            yield chunk
    except Damaged as error:
        if not some:
            raise Unreadable(f"{source.name}: a damaged {kind} file, nothing of it can be unpacked: {error}") from error
        source.damaged = str(error)


def decoded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks converted to UTF-8. The first `ENCODING_BYTES` decide the encoding, however they are divided into chunks."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= ENCODING_BYTES:
            break
    if (name := encoding(head)) is not None:
        yield from recode(_chain(head, chunks), name)
        return
    yield head[_start(head) or 0 :]
    yield from chunks


def _start(head: bytes) -> int | None:
    """The index at which UTF-8 begins after its byte order mark; None in another encoding."""
    if encoding(head) is not None:
        return None
    return 3 if head.startswith(b"\xef\xbb\xbf") else 0


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


BINARY_BYTES = 8192
"""This many first bytes of an input decide whether it is text."""


def binary(head: bytes) -> bool:
    """Whether the first bytes, decoded to UTF-8, contain so many control bytes that they are not text."""
    sample = head[:BINARY_BYTES]
    odd = sum(sample.count(bytes([b])) for b in (*range(7), *range(14, 27), *range(28, 32)))
    return len(sample) > 32 and odd > 0.04 * len(sample)
