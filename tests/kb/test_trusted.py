"""Whose files and folders count as one's own: by owner, by mode, through links, with a sticky folder on the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.trusted import is_own_file, is_own_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_ones_own_and_the_systems_files(own_place: Path) -> None:
    assert is_own_file(written(own_place / "env" / "bin" / "python"))
    assert is_own_file("/bin/sh")
    assert is_own_folder(own_place)
    assert is_own_folder("/usr")


@pytest.mark.parametrize("writable", ["", "env", "env/bin", "env/bin/python"])
@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_others_may_write_to_one_of_the_folders(own_place: Path, writable: str, mode: int) -> None:
    python = written(own_place / "env" / "bin" / "python")
    (own_place / writable).chmod(mode)
    assert not is_own_file(python)


def test_a_group_of_others_may_write(own_place: Path) -> None:
    python = written(own_place / "env" / "bin" / "python")
    (own_place / "env").chmod(0o775)
    if os.geteuid() == 0:
        assert is_own_file(python), "the group of root has nobody else"
        os.chown(own_place / "env", 0, 12345)
        assert not is_own_file(python)
        os.chown(own_place / "env", 0, 1)
        assert not is_own_file(python)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("given", ["env", "env/bin", "env/bin/python"])
def test_what_another_user_owns(own_place: Path, given: str) -> None:
    python = written(own_place / "env" / "bin" / "python")
    os.chown(own_place / given, 12345, 0)
    assert not is_own_file(python)
    assert is_own_folder(own_place / "env") is (given != "env")


def test_a_link_leads_where_it_leads(own_place: Path) -> None:
    safe = written(own_place / "safe" / "python")
    open_ = written(own_place / "open" / "python")
    (own_place / "open").chmod(0o777)
    for name, target in (("one", safe), ("two", open_), ("three", Path("../open/python"))):
        (own_place / "safe" / name).symlink_to(target)
    assert is_own_file(own_place / "safe" / "one")
    assert not is_own_file(own_place / "safe" / "two")
    assert not is_own_file(own_place / "safe" / "three")
    (own_place / "open" / "back").symlink_to(safe)
    assert not is_own_file(own_place / "open" / "back"), "others could point it elsewhere"
    (own_place / "loop").symlink_to(own_place / "loop")
    assert not is_own_file(own_place / "loop")


def test_the_parent_of_a_link_is_that_of_its_target(own_place: Path) -> None:
    written(own_place / "open" / "python")
    (own_place / "open" / "inner").mkdir()
    (own_place / "open").chmod(0o777)
    written(own_place / "safe" / "python")
    (own_place / "safe" / "link").symlink_to(own_place / "open" / "inner")
    assert not is_own_file(f"{own_place}/safe/link/../python")
    assert is_own_file(f"{own_place}/safe/../safe/python")


def test_a_sticky_folder_is_good_for_a_cache_and_not_for_a_program(own_place: Path) -> None:
    python = written(own_place / "shared" / "mine" / "python")
    (own_place / "shared").chmod(0o1777)
    assert not is_own_file(python)
    assert is_own_folder(python.parent)
    assert not is_own_folder(own_place / "shared"), "anybody may put files into it"


def test_a_folder_that_does_not_exist_yet(own_place: Path) -> None:
    assert is_own_folder(own_place / "new" / "newer")
    assert not is_own_file(own_place / "new" / "python")
    own_place.chmod(0o777)
    assert not is_own_folder(own_place / "new")
