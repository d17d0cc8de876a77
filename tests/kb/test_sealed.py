"""Sealed files: if any byte of a compiled file changes, reading returns what was written or says that the file is damaged."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from kb.compile.folder import compile_to
from kb.compiled import Pack
from kb.load import Library, load
from kb.sealed import BrokenSeal, Sealed, seal

AREA = Path(__file__).parent.parent.parent / "entries" / "tokenizers"
CONTENT = b"".join(b"%d\n" % number for number in range(20_000))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A few real entries and a table."""
    table = tmp_path_factory.mktemp("tables") / "t.jsonl"
    table.write_text("".join(json.dumps({"name": f"n{i}", "value": i}) + "\n" for i in range(5000)))
    loaded = load(AREA).usable()
    return Library(dict(sorted(loaded.entries.items())[:40]), {"t": table})


@pytest.fixture(scope="module")
def compiled(library: Library, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The library's pack."""
    path = tmp_path_factory.mktemp("packs") / "whole.pack"
    compile_to(library, path)
    return path.read_bytes()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(seal(CONTENT))
    return path


def everything(pack: Pack) -> str:
    """All that a pack holds, as text."""
    numbers = range(len(pack.index.ids))
    rows = [list(pack.rows("t", f"n{i}")) for i in range(0, 5000, 50)]
    owners = [list(pack.index.owners(i)) for i in range(pack.index.count)]
    return json.dumps([pack.segments, pack.standing, [pack.whole(n) for n in numbers], pack.index.literals, rows, owners])


def changed(path: Path, seed: int) -> None:
    content = bytearray(path.read_bytes())
    content[random.Random(seed).randrange(len(content))] ^= 1 << seed % 8
    path.write_bytes(content)


@pytest.mark.parametrize("seed", range(60))
def test_a_changed_byte_of_a_pack_gives_no_traceback(compiled: bytes, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "some.pack"

    def remade() -> Pack:
        path.write_bytes(compiled)
        return Pack(path)

    remade()
    whole = everything(Pack(path))
    changed(path, seed)
    told = []
    try:
        assert everything(Pack(path)) == whole, "a byte between two parts, which nobody reads"
    except BrokenSeal as damage:
        told.append(damage)
    assert all(one.filename == str(path) and "delete it" in str(one.strerror) for one in told)
    try:
        healed = Pack(path, remake=remade)
    except BrokenSeal:  # noticed when it was opened: whoever opens it makes it anew
        return
    assert everything(healed) == whole
    assert everything(Pack(path)) == whole


@pytest.mark.parametrize("length", [0, 1, 19, 20, 8192, 100_000])
def test_a_cut_off_file_is_not_opened(written: Path, length: int) -> None:
    written.write_bytes(written.read_bytes()[:length])
    with pytest.raises(BrokenSeal):
        Sealed(written)


def test_only_what_is_read_is_checked(written: Path) -> None:
    content = bytearray(written.read_bytes())
    content[50_000] ^= 1
    written.write_bytes(content)
    sealed = Sealed(written)
    assert sealed.read(0, 10_000) == CONTENT[:10_000]
    assert sealed.find(b"\n777\n", 0) == CONTENT.find(b"\n777\n")
    assert sealed.rfind(b"\n", 80_000, 90_000) == CONTENT.rfind(b"\n", 80_000, 90_000)
    for read in (lambda: sealed.read(49_999, 50_001), lambda: sealed.find(b"nowhere", 0), lambda: sealed.rfind(b"?", 0, 99_999)):
        with pytest.raises(BrokenSeal):
            read()


def test_nothing_beyond_the_content_is_read(written: Path) -> None:
    sealed = Sealed(written)
    assert sealed.read(len(CONTENT) - 3, len(CONTENT) + 1000) == CONTENT[-3:]
    assert sealed.find(b"sealed1", 0) == -1


def test_another_content_is_no_repair(written: Path) -> None:
    content = bytearray(written.read_bytes())
    content[5] ^= 1
    written.write_bytes(content)
    sealed = Sealed(written, remake=lambda: written.write_bytes(seal(CONTENT[:-1])))
    with pytest.raises(BrokenSeal):
        sealed.read(0, 10)
