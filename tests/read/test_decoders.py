"""Compressed files, whole, cut and damaged: everything readable is read, and missing parts are reported."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from kb.errors import TroubleshootError
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Unreadable, from_path
from troubleshooter.read.stream import Seen, read

LINES = "".join(f"line {n} {n * 7919 % 1000003}\n" for n in range(120_000)).encode()
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}  # fmt: skip


def texts(path: Path, tool: Diagnoser) -> tuple[list[str], Seen]:
    (source,) = from_path(path)
    seen = Seen()
    return [line.text for line in read(source, 0, tool.scanner, seen) if line.number], seen


@pytest.mark.parametrize("kind", PACKERS)
def test_a_cut_file_is_read_up_to_there_and_said_to_be_cut(kind: str, tmp_path: Path, tool: Diagnoser) -> None:
    packed = PACKERS[kind](LINES)
    path = tmp_path / f"x.log.{kind}"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    found, seen = texts(path, tool)
    assert found[0] == "line 0 0"
    assert seen.problem == "damaged"
    assert seen.detail
    path.write_bytes(packed)
    found, seen = texts(path, tool)
    assert found[-1].startswith("line 119999 ")
    assert seen.problem is None


@pytest.mark.parametrize("kind", PACKERS)
def test_a_damaged_file_is_told_whatever_the_decoder_raises(kind: str, tmp_path: Path, tool: Diagnoser) -> None:
    packed = PACKERS[kind](LINES)
    for at in (12, len(packed) // 2):
        path = tmp_path / f"x.{kind}"
        path.write_bytes(packed[:at] + bytes(64) + packed[at + 64 :])
        try:
            _, seen = texts(path, tool)
        except Unreadable as error:
            assert "nothing of it can be unpacked" in str(error)  # noqa: PT017
        else:
            assert seen.problem == "damaged"


@pytest.mark.parametrize("kind", PACKERS)
def test_the_first_bytes_tell_how_a_file_is_packed(kind: str, tmp_path: Path, tool: Diagnoser) -> None:
    path = tmp_path / f"plain.{kind}"
    path.write_bytes(b"ValueError: x\n")
    assert texts(path, tool)[0] == ["ValueError: x"]
    packed = tmp_path / "packed.log"
    packed.write_bytes(PACKERS[kind](b"a\nb\n"))
    assert texts(packed, tool)[0] == ["a", "b"]
    twice = tmp_path / f"twice.{kind}"
    twice.write_bytes(PACKERS[kind](b"a\n") + PACKERS[kind](b"b\n"))
    assert texts(twice, tool)[0] == ["a", "b"]


def test_zstd_of_the_standard_library(tmp_path: Path, tool: Diagnoser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.14 has its own decoder, so the package is not a dependency there."""
    module = types.ModuleType("compression.zstd")
    module.ZstdFile = lambda file: io.BytesIO(zstandard.decompress(file.read()))  # type: ignore[attr-defined]
    package = types.ModuleType("compression")
    package.zstd = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "compression", package)
    monkeypatch.setitem(sys.modules, "compression.zstd", module)
    path = tmp_path / "x.zst"
    path.write_bytes(zstandard.compress(b"a\nb\n"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert texts(path, tool)[0] == ["a", "b"]


def test_the_report_says_that_a_file_is_cut(tmp_path: Path, tool: Diagnoser) -> None:
    from troubleshooter.report.markdown import markdown

    packed = zstandard.compress(LINES)
    path = tmp_path / "x.zst"
    path.write_bytes(packed[: len(packed) // 2])
    for lang, word in (("en", "is cut or damaged"), ("zh", "不完整或已损坏")):
        report = tool.report(from_path(path), lang=lang)
        (problem,) = report.input["problems"]
        assert (problem["file"], problem["problem"]) == (str(path), "damaged")
        assert word in markdown(report)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_cut_log_is_not_called_well(tmp_path: Path, tool: Diagnoser, lang: str) -> None:
    """A log that shows its end, packed twice: the second copy is cut."""
    log = b"{'loss': 1.0}\n" * 2000 + b"{'train_runtime': 42.3, 'train_loss': 1.0, 'epoch': 2.0}\n"
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(log) + gzip.compress(log)[:-20])
    report = tool.report(from_path(path), lang=lang)
    assert report.input["problems"]
    assert ("Nothing wrong" if lang == "en" else "未发现问题") not in str(report)


def test_a_missing_decoder_is_said(tmp_path: Path, tool: Diagnoser, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.log.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"anything")
    for name in ("zstandard", "compression", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(TroubleshootError, match="no decoder for it; install"):
        tool.report(from_path(path))
