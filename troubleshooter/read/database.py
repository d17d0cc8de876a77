"""Compiled sets of literals (Hyperscan): linear in the text and nearly independent of the number of literals.

They are kept in the user's cache by content hash; where that cannot be written they are compiled at each start (12 ms a
thousand literals).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import hyperscan

from kb.cache import tidy, used


def named(key: str, words: Iterable[str]) -> str:
    """A name for what is told by the key and these words."""
    return f"{key}-{zlib.crc32(chr(0).join(words).encode()):08x}"


ONCE = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
EACH = hyperscan.HS_FLAG_CASELESS
"""What is told of a literal in a text: its first place, or each. ASCII case is ignored."""


def database(
    words: Callable[[], Sequence[str]],
    flags: Sequence[int] = (),
    cache: Path | None = None,
    name: str = "",
) -> hyperscan.Database | None:
    """What finds the words, numbered as they come; an empty word is passed over, and without any other there is None.
    ``cache``: a folder, ``name`` its file there, which tells these words from all others: they are not asked for where it
    is there."""
    path = cache / f"{name}-{getattr(hyperscan, '__version__', '')}.hs" if cache is not None else None
    if path is not None:
        try:
            made = hyperscan.loadb(path.read_bytes(), hyperscan.HS_MODE_BLOCK)
            made.scratch = hyperscan.Scratch(made)
            used(path)
            return made
        except (OSError, hyperscan.HyperscanError):
            pass
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
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(hyperscan.dumpb(made))
            os.replace(temporary, path)
            tidy(path.parent)
        except OSError:
            pass
    return made
