"""Compiled sets of literals (Hyperscan): linear in the text and nearly independent of the number of literals.

They are kept in the user's cache by content hash; where that cannot be written they are compiled at each start (12 ms a
thousand literals). A database is machine code: it is loaded only from a folder that nobody else may write to, and only
if it is, to the byte, what was written under its name.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import hyperscan

from kb.cache import tidy, used
from kb.trusted import is_own_folder


def named(key: str, words: Iterable[str]) -> str:
    """A name for what is told by the key and these words."""
    return f"{key}-{zlib.crc32(chr(0).join(words).encode()):08x}"


ONCE = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
EACH = hyperscan.HS_FLAG_CASELESS
"""What is told of a literal in a text: its first place, or each. ASCII case is ignored."""

_DIGEST_BYTES = 32
_MADE_BY = f"{getattr(hyperscan, '__version__', '')}-2"
"""In a file's name: which library compiled it, and the form of the file."""


def database(
    words: Callable[[], Sequence[str]],
    flags: Sequence[int] = (),
    cache: Path | None = None,
    name: str = "",
) -> hyperscan.Database | None:
    """What finds the words, numbered as they come; an empty word is passed over, and without any other there is None.
    ``cache``: a folder, ``name`` its file there, which tells these words from all others: they are not asked for where it
    is there. A folder that others may write to is not used."""
    path = cache / f"{name}-{_MADE_BY}.hs" if cache is not None and is_own_folder(cache) else None
    if path is not None and (kept := _kept(path)) is not None:
        return kept
    texts = words()
    numbers = [number for number, text in enumerate(texts) if text]
    if not numbers:
        return None
    made = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    made.compile(
        expressions=[texts[number].encode() for number in numbers],
        ids=numbers,
        elements=len(numbers),
        flags=[flags[number] for number in numbers] if flags else [ONCE] * len(numbers),
        literal=True,
    )
    made.scratch = hyperscan.Scratch(made)
    if path is not None:
        _keep(path, hyperscan.dumpb(made))
    return made


def _kept(path: Path) -> hyperscan.Database | None:
    """The database of a file, or None where there is none, or another than the one that was written there."""
    with suppress(OSError, hyperscan.HyperscanError):
        content = path.read_bytes()
        code = content[_DIGEST_BYTES:]
        if content[:_DIGEST_BYTES] != _digest(path.name, code):
            return None
        made = hyperscan.loadb(code, hyperscan.HS_MODE_BLOCK)
        made.scratch = hyperscan.Scratch(made)
        used(path)
        return made
    return None


def _keep(path: Path, code: bytes) -> None:
    """Write a database behind its digest; a cache that cannot be written is passed over."""
    temporary = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_bytes(_digest(path.name, code) + code)
        os.replace(temporary, path)
        tidy(path.parent)


def _digest(name: str, code: bytes) -> bytes:
    """Over the name too: the database of other words under this name would find nothing, and say so of every log.

    SHA-256, as processors have instructions for it (1.0 ms for the 1.7 MB of all literals; BLAKE2b 2.5 ms).
    """
    digest = hashlib.sha256(name.encode())
    digest.update(code)
    return digest.digest()
