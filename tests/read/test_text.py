"""Raw bytes → what a person saw."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from troubleshooter.read.prefix import strip_prefix
from troubleshooter.read.sources import from_path, from_text, rank_of
from troubleshooter.read.split import split_line
from troubleshooter.read.stream import raw_lines, read
from troubleshooter.read.text import LINE_LIMIT, encoding, fold, texts


@pytest.mark.parametrize(
    ("raw", "want"),
    [
        (b"\x1b[31mred\x1b[0m text", ["red text"]),
        (b"\x1b]8;;file:///x\x1b\\link\x1b]8;;\x1b\\", ["link"]),
        (b"a\x00b", ["ab"]),
        (b"caf\xe9", ["caf\ufffd"]),
        ("OSError: [WinError 1455] 页面文件太小，无法完成操作。".encode("gbk"), ["OSError: [WinError 1455] 页面文件太小，无法完成操作。"]),
        ("加载模型 100%".encode("gbk"), ["加载模型 100%"]),
        ("加载模型".encode("gbk") + b"\xff", [("加载模型".encode("gbk") + b"\xff").decode("utf-8", "replace")]),
        ("Größe übermäßig".encode("cp1252"), ["Gr\ufffd\ufffde \ufffdberm\ufffd\ufffdig"]),
        ("Не удается найти файл".encode("cp1251"), ["Не удается найти файл".encode("cp1251").decode("utf-8", "replace")]),
        ("найдены ошибки".encode("cp1251")[:8], ["найдены ошибки".encode("cp1251")[:8].decode("utf-8", "replace")]),
        (b"[0;31mValueError[0m", ["ValueError"]),
        ("\u2190[31mValueError\u2190[0m".encode(), ["ValueError"]),
        (b"text\r", ["text"]),
        (b"\r  1%|a | 1/9 [00:01<00:09]\r  2%|b | 2/9 [00:02<00:09]Traceback", ["  2%|b | 2/9 [00:02<00:09]", "Traceback"]),
    ],
)
def test_texts(raw: bytes, want: list[str]) -> None:
    assert texts(raw) == want


@pytest.mark.parametrize(
    ("line", "rest", "rank"),
    [
        ('[rank3]:   File "x"', '  File "x"', 3),
        ("[default0]:Traceback", "Traceback", 0),
        ("(WorkerDict pid=5) x", "x", None),
        ("[1,2]<stderr>:x", "x", 2),
        ("168.5s | 231 | Traceback", "Traceback", None),
        ('2025-06-12T09:14:07.037Z   File "a"', '  File "a"', None),
        ("2025-06-12T09:14:07.037Z stderr F [rank1]: x", "x", 1),
        ("3:   File", "  File", 3),
        ("RuntimeError: x", "RuntimeError: x", None),
        ("loss: 3", "loss: 3", None),
        ("12:30:45 x", "12:30:45 x", None),
        ("2025-06-12 09:14:07 - list item", "- list item", None),
    ],
)
def test_prefixes(line: str, rest: str, rank: int | None) -> None:
    got = strip_prefix(line)
    assert (got[0], got[2]) == (rest, rank)


def test_utf16_with_and_without_bom() -> None:
    text = "ValueError: bad\nnext\n"
    for raw in (text.encode("utf-16"), text.encode("utf-16-le"), text.encode("utf-16-be")):
        assert [line.text for line in read(from_text(raw))] == ["ValueError: bad", "next"]
    assert encoding(b"plain ascii text") is None


def test_line_numbers_are_those_of_the_file_whatever_the_chunks() -> None:
    data = b"".join(b"line %d\r\n" % i for i in range(1000))
    whole = list(raw_lines(iter([data])))
    for size in (1, 7, 64, 1000):
        assert list(raw_lines(iter([data[i : i + size] for i in range(0, len(data), size)]))) == whole
    assert whole[-1] == (1000, b"line 999\r")


def test_a_huge_line_is_bounded() -> None:
    chunks = (b"x" * 65536 for _ in range(200))
    found = list(raw_lines(iter([*chunks, b"\nnext\n"])))
    assert len(found[0][1]) <= LINE_LIMIT + 65536
    assert found[1] == (2, b"next")


def test_compressed_files(tmp_path: Path) -> None:
    import zstandard

    data = b"a\nb\n"
    for name, packed in (("x.gz", gzip.compress(data)), ("x.xz", lzma.compress(data)), ("x.zst", zstandard.compress(data))):
        (tmp_path / name).write_bytes(packed)
        (source,) = from_path(tmp_path / name)
        assert [line.text for line in read(source)] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("none_abc/attempt_0/3/stderr.log", 3),
        ("slurm-1234_7.out", 7),
        ("logs/rank_12.log", 12),
        ("train.log", None),
        ("2/stdout.log", 2),
    ],
)
def test_rank_of_a_file(name: str, rank: int | None) -> None:
    assert rank_of(name) == rank


def test_colons_of_a_chinese_keyboard_are_plain() -> None:
    assert fold("报错：RuntimeError：CUDA error： out of memory") == "报错: RuntimeError: CUDA error: out of memory"


def test_an_entity_alone_on_its_line() -> None:
    assert [line.text for line in split_line(b"ValueError: x &gt;= 2 is needed", 1)] == ["ValueError: x >= 2 is needed"]
    assert [line.text for line in split_line(b"a &amp; b", 1)] == ["a & b"]
