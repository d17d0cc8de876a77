"""The cache of compiled entries: an edit compiles one entry, and the result is what compiling everything gives."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb import cache
from kb.cache import DAYS, MAX_CACHE_BYTES, MAX_CACHE_FILES, pack, tidy, used
from kb.compile import folder as compiling
from kb.compiled import Pack
from kb.problem import EntryError

ENTRIES = Path(__file__).parents[2] / "entries"
DAY = 24 * 3600.0


def aged(path: Path, days: float, size: int = 0) -> Path:
    """A file of this size, without content on the disk, that was last used so many days ago."""
    with path.open("wb") as file:
        file.truncate(size)
    at = time.time() - days * DAY
    os.utime(path, (at, at))
    return path


def test_what_was_not_used_for_long_is_removed(tmp_path: Path) -> None:
    old = [aged(tmp_path / "old.pack", DAYS + 1), aged(tmp_path / "old.hs", DAYS + 1)]
    kept = [aged(tmp_path / "new.pack", DAYS - 1), aged(tmp_path / "notes.txt", 2 * DAYS)]
    tidy(tmp_path)
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in kept)


def test_of_many_files_those_in_use_are_kept(tmp_path: Path) -> None:
    found = [aged(tmp_path / f"{n}.pack", 1 + n / MAX_CACHE_FILES) for n in range(MAX_CACHE_FILES + 5)]
    used(found[-1])
    tidy(tmp_path)
    assert [path.exists() for path in found] == [True] * (MAX_CACHE_FILES - 1) + [False] * 5 + [True]


def test_of_many_bytes_those_in_use_are_kept(tmp_path: Path) -> None:
    found = [aged(tmp_path / f"{n}.pack", 1 + n, size=MAX_CACHE_BYTES // 4) for n in range(6)]
    used(found[-1])
    tidy(tmp_path)
    assert [path.exists() for path in found] == [True] * 3 + [False] * 2 + [True]


def test_the_newest_is_kept_however_large(tmp_path: Path) -> None:
    kept = aged(tmp_path / "large.pack", 0, size=2 * MAX_CACHE_BYTES)
    tidy(tmp_path)
    assert kept.exists()


def test_many_small_packs_push_no_large_one_out(tmp_path: Path) -> None:
    """The shipped entries' pack is used all the time, and each team's folder that is tried makes another small one."""
    large = aged(tmp_path / "large.pack", 1, size=40 << 20)
    for number in range(200):
        aged(tmp_path / f"{number}.pack", 0)
    tidy(tmp_path)
    assert large.exists()


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    tidy(tmp_path / "gone")
    used(tmp_path / "gone.pack")


@pytest.fixture
def area(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate folder with the entries of one shipped area, and an empty cache."""
    monkeypatch.setenv("TROUBLESHOOT_CACHE", str(tmp_path / "cache"))
    shutil.copytree(ENTRIES / "precision", tmp_path / "entries" / "precision")
    return tmp_path / "entries"


def count_compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of entries that are compiled from now on."""
    compiled: list[str] = []
    original = compiling.compile_entry

    def compile_entry(item: object) -> object:
        compiled.append(item.entry.id)  # type: ignore[attr-defined]
        return original(item)  # type: ignore[arg-type]

    monkeypatch.setattr(compiling, "compile_entry", compile_entry)
    return compiled


def edit(entry: Path, old: str, new: str) -> None:
    text = entry.read_text("utf-8")
    assert old in text
    entry.write_text(text.replace(old, new), encoding="utf-8")


def test_an_edit_compiles_the_edited_entry_only(area: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(area, "own")
    compiled = count_compiled(monkeypatch)
    pack(area, "own")
    assert compiled == []
    edit(area / "precision" / "cache-object-float" / "entry.yaml", "severity: crash", "severity: hang")
    found = pack(area, "own")
    assert compiled == ["cache-object-float"]
    assert found.whole(found.index.ids.index("cache-object-float"))["severity"] == "hang"


@pytest.mark.parametrize("kind", ["match", "near-miss"])
def test_a_changed_sample_is_seen(area: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    pack(area, "own")
    compiled = count_compiled(monkeypatch)
    edit(area / "precision" / "cache-object-float" / "samples.log", f"=== {kind} ", f"=== {kind} x")
    pack(area, "own")
    assert compiled == ["cache-object-float"]


def test_files_with_new_times_and_the_same_content_are_not_compiled_again(area: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(area, "own")
    compiled = count_compiled(monkeypatch)
    for path in area.rglob("*.yaml"):
        os.utime(path, (1, 1))
    pack(area, "own")
    assert compiled == []


def test_a_clone_takes_over_what_another_folder_compiled(area: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(area, "own")
    compiled = count_compiled(monkeypatch)
    shutil.copytree(area, tmp_path / "clone")
    edit(tmp_path / "clone" / "precision" / "cache-object-float" / "entry.yaml", "severity: crash", "severity: hang")
    found = pack(tmp_path / "clone", "own")
    assert compiled == ["cache-object-float"]
    assert found.index.ids == pack(area, "own").index.ids


def changed(area: Path) -> None:
    """Edits of many kinds: words, a new entry, a removed one, a relation."""
    folder = area / "precision"
    edit(folder / "cache-object-float" / "entry.yaml", "object has no attribute ['", "object has lost its attribute ['")
    shutil.copytree(folder / "cache-object-float", folder / "made-copy")
    edit(folder / "made-copy" / "entry.yaml", "id: cache-object-float", "id: made-copy")
    shutil.rmtree(sorted(folder.iterdir())[3])


def test_linking_after_edits_gives_what_compiling_everything_gives(area: Path, tmp_path: Path) -> None:
    pack(area, "own")
    changed(area)
    after = pack(area, "own")
    shutil.rmtree(tmp_path / "cache")
    whole = pack(area, "own")
    assert after.index.ids == whole.index.ids

    def texts(found: Pack, number: int) -> object:
        """A body with its literals as texts: their numbers may differ."""
        literals = found.index.literals

        def named(part: object) -> object:
            if isinstance(part, dict):
                return {k: [literals[n] for n in v] if k == "literals" else named(v) for k, v in part.items()}
            return [named(item) for item in part] if isinstance(part, list) else part

        return named(found.whole(number))

    def triggers(found: Pack) -> dict[str, object]:
        names = enumerate(found.index.literals)
        return {text: list(found.index.owners(n)) for n, text in names if len(found.index.owners(n))}

    assert [texts(after, n) for n in range(len(after.index.ids))] == [texts(whole, n) for n in range(len(whole.index.ids))]
    assert triggers(after) == triggers(whole)
    assert after.index.pseudo == whole.index.pseudo
    assert after.table("words") == whole.table("words")
    assert after.standing == whole.standing


def test_literals_keep_their_numbers_after_an_edit(area: Path) -> None:
    before = pack(area, "own")
    edit(area / "precision" / "cache-object-float" / "entry.yaml", "object has no attribute ['", "object has lost its attribute ['")
    after = pack(area, "own")
    assert after.index.literals[: len(before.index.literals)] == before.index.literals
    assert after.segments[0] == before.segments[0]
    assert len(after.segments) == 2


def test_few_packs_of_a_folder_are_kept(area: Path, tmp_path: Path) -> None:
    for severity, other in [("crash", "hang"), ("hang", "degraded"), ("degraded", "crash"), ("crash", "hang")]:
        pack(area, "own")
        edit(area / "precision" / "cache-object-float" / "entry.yaml", f"severity: {severity}", f"severity: {other}")
    assert len(list((tmp_path / "cache").glob("*.pack"))) <= 2


def test_a_faulty_entry_is_an_error_or_left_out_and_mended_later(area: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = area / "precision" / "cache-object-float" / "entry.yaml"
    edit(entry, "severity: crash", "severity: crush")
    with pytest.raises(EntryError, match="severity"):
        pack(area, "own")
    found = pack(area, "shipped", strict=False)
    assert "cache-object-float" not in found.index.ids
    assert "troubleshoot check" in capsys.readouterr().err
    edit(entry, "severity: crush", "severity: crash")
    assert "cache-object-float" in pack(area, "own").index.ids


def test_two_first_starts_at_once_give_the_same(area: Path, tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from kb.cache import pack\nprint(len(pack(Path(sys.argv[1]), 'own').index.ids))"
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(area)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    results = [process.communicate() for process in started]
    assert len({out for out, _ in results}) == 1
    assert [err for _, err in results] == [""] * 3
    assert not [path for path in (tmp_path / "cache").iterdir() if path.suffix not in (".pack", ".hs")]


def test_the_compiler_is_all_that_compiling_imports() -> None:
    """A change of any module that compiling imports must compile all entries anew, so the list must name all of them."""
    code = "import sys, kb.compile.folder; print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('kb.')), sep='\\n')"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert {Path(line) for line in out.splitlines()} == set(cache.compiler_modules())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the cache's settings of this test are inherited")
def test_a_daemon_process_compiles_alone(area: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the worker of `browse` is, which may have no children."""
    monkeypatch.setattr(compiling, "MIN_PARALLEL", 1)
    worker = multiprocessing.get_context("fork").Process(target=pack, args=(area, "own"), daemon=True)
    worker.start()
    worker.join()
    assert worker.exitcode == 0
