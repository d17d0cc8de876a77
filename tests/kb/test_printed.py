"""The rows of the proofs' file, as a diagnosis looks them up."""

from __future__ import annotations

from pathlib import Path

from kb.printed import FILE, rows_of

HEAD = "# made by a test\n"


def _row(entry: str, symptom: str) -> str:
    return f"{entry}\t{symptom}\tdigest\tprinted\t\t\t"


def test_the_rows_of_each_entry_are_found(tmp_path: Path) -> None:
    entries = ["a", "a-b", "a-b-c", "gadget", "gadget-2", "z"]
    rows = [(entry, f"{number}-{'x' * 30 * number}") for entry in entries for number in range(3)]
    path = tmp_path / "words.tsv"
    path.write_text(HEAD + "".join(_row(*row) + "\n" for row in rows), encoding="utf-8")
    for entry in entries:
        assert [(row[0], row[1]) for row in rows_of(entry, path)] == [row for row in rows if row[0] == entry]
    assert [rows_of(entry, path) for entry in ("", "A", "b", "gadge", "zz")] == [[]] * 5


def test_a_file_without_rows_and_no_file_give_none(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    assert rows_of("a", path) == []
    path.write_text("", encoding="utf-8")
    assert rows_of("a", path) == []
    path.write_text(HEAD, encoding="utf-8")
    assert rows_of("a", path) == []
    path.write_text(HEAD + _row("a", "one"), encoding="utf-8")  # the last line may have no end
    assert [row[1] for row in rows_of("a", path)] == ["one"]


def test_the_shipped_file_is_sorted_by_entry() -> None:
    entries = [line.partition(b"\t")[0] for line in FILE.read_bytes().splitlines()[1:]]
    assert entries == sorted(entries)
