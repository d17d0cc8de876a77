"""Whose files and folders count as one's own: by owner, by mode, through links, with a sticky folder on the way."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.trusted import is_own_file, is_own_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that only the user may write to, all the way up: no temporary folder is one."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as made:
        if not is_own_folder(made):
            pytest.skip(f"others may write above {made}")
        yield Path(made)


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_ones_own_and_the_systems_files(place: Path) -> None:
    assert is_own_file(written(place / "env" / "bin" / "python"))
    assert is_own_file("/bin/sh")
    assert is_own_folder(place)
    assert is_own_folder("/usr")


@pytest.mark.parametrize("writable", ["", "env", "env/bin", "env/bin/python"])
@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_others_may_write_to_one_of_the_folders(place: Path, writable: str, mode: int) -> None:
    python = written(place / "env" / "bin" / "python")
    (place / writable).chmod(mode)
    assert not is_own_file(python)


def test_a_group_of_others_may_write(place: Path) -> None:
    python = written(place / "env" / "bin" / "python")
    (place / "env").chmod(0o775)
    if os.geteuid() == 0:
        assert is_own_file(python), "the group of root has nobody else"
        os.chown(place / "env", 0, 12345)
        assert not is_own_file(python)
        os.chown(place / "env", 0, 1)
        assert not is_own_file(python)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("given", ["env", "env/bin", "env/bin/python"])
def test_what_another_user_owns(place: Path, given: str) -> None:
    python = written(place / "env" / "bin" / "python")
    os.chown(place / given, 12345, 0)
    assert not is_own_file(python)
    assert is_own_folder(place / "env") is (given != "env")


def test_a_link_leads_where_it_leads(place: Path) -> None:
    safe = written(place / "safe" / "python")
    open_ = written(place / "open" / "python")
    (place / "open").chmod(0o777)
    for name, target in (("one", safe), ("two", open_), ("three", Path("../open/python"))):
        (place / "safe" / name).symlink_to(target)
    assert is_own_file(place / "safe" / "one")
    assert not is_own_file(place / "safe" / "two")
    assert not is_own_file(place / "safe" / "three")
    (place / "open" / "back").symlink_to(safe)
    assert not is_own_file(place / "open" / "back"), "others could point it elsewhere"
    (place / "loop").symlink_to(place / "loop")
    assert not is_own_file(place / "loop")


def test_the_parent_of_a_link_is_that_of_its_target(place: Path) -> None:
    written(place / "open" / "python")
    (place / "open" / "inner").mkdir()
    (place / "open").chmod(0o777)
    written(place / "safe" / "python")
    (place / "safe" / "link").symlink_to(place / "open" / "inner")
    assert not is_own_file(f"{place}/safe/link/../python")
    assert is_own_file(f"{place}/safe/../safe/python")


def test_a_sticky_folder_is_good_for_a_cache_and_not_for_a_program(place: Path) -> None:
    python = written(place / "shared" / "mine" / "python")
    (place / "shared").chmod(0o1777)
    assert not is_own_file(python)
    assert is_own_folder(python.parent)
    assert not is_own_folder(place / "shared"), "anybody may put files into it"


def test_a_folder_that_does_not_exist_yet(place: Path) -> None:
    assert is_own_folder(place / "new" / "newer")
    assert not is_own_file(place / "new" / "python")
    place.chmod(0o777)
    assert not is_own_folder(place / "new")
