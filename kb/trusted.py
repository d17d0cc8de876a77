"""Who may change a file: a file that is run, or loaded as machine code, must belong to the user or to root.

A path counts as one's own when the user or root owns every part of it, from the root folder down, and nobody else may write
to any of them. Links are followed; the place of a link and the place that it leads to must both be one's own.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

__all__ = ["belongs_to_user", "is_own_file", "is_own_folder"]

_MOST_LINKS = 40
"""At most this many links are followed in one path; the kernel follows as many."""


def is_own_folder(path: Path | str) -> bool:
    """True if only the user (or root) can put files into this folder, or create it if it does not exist yet.

    A parent folder that everybody may write to is accepted when it is sticky (``/tmp``): others can neither remove nor
    rename in it what is not theirs. On Windows, where modes say nothing, the answer is True.
    """
    return sys.platform == "win32" or _is_own(os.fspath(path), sticky_parents=True, may_be_missing=True)


def is_own_file(path: Path | str) -> bool:
    """True if only the user (or root) can have put this file here. This is asked before a file is run.

    Stricter than `is_own_folder`: a sticky folder on the way is refused too, as anybody may put files into it. On Windows,
    where modes say nothing, the answer is False.
    """
    return sys.platform != "win32" and _is_own(os.fspath(path), sticky_parents=False, may_be_missing=False)


def belongs_to_user(path: Path | str) -> bool:
    """True if the file belongs to the user (or root) and nobody else may write to it, in whatever folder: git's rule for
    repositories.

    For files of data, which others could at most remove. On Windows, where modes say nothing, the answer is True.
    """
    if sys.platform == "win32":
        return True
    try:
        link, found = os.lstat(path), os.stat(path)
    except OSError:
        return False
    return link.st_uid in (0, os.geteuid()) and _only_ours(found, sticky=False)


def _is_own(path: str, *, sticky_parents: bool, may_be_missing: bool) -> bool:
    here, links = os.sep, 0
    try:
        # Never `abspath`: `link/..` is the parent of what the link leads to.
        left = _parts(os.path.join(os.getcwd(), path))
        if not _only_ours(os.stat(here), sticky_parents and bool(left)):
            return False
        while left:
            step = os.path.join(here, left.pop())
            found = os.lstat(step)
            if stat.S_ISLNK(found.st_mode):
                links += 1
                if links > _MOST_LINKS or found.st_uid not in (0, os.geteuid()):
                    return False
                target = os.readlink(step)
                here = os.sep if os.path.isabs(target) else here
                left += _parts(target)
                continue
            if not _only_ours(found, sticky_parents and bool(left)):
                return False
            here = os.path.normpath(step)  # `..` of a link's target: `here` holds no link any more
    except FileNotFoundError:
        return may_be_missing
    except OSError:
        return False
    return True


def _parts(path: str) -> list[str]:
    """The parts of a path; the first part comes last."""
    return [part for part in path.split(os.sep) if part not in ("", ".")][::-1]


def _only_ours(found: os.stat_result, sticky: bool) -> bool:
    """True if nobody but the user and root may write. ``sticky``: also accept folders where others cannot touch our files."""
    if found.st_uid not in (0, os.geteuid()):
        return False
    if sticky and found.st_mode & stat.S_ISVTX:
        return True
    if found.st_mode & stat.S_IWOTH:
        return False
    return not found.st_mode & stat.S_IWGRP or _has_no_other_member(found.st_gid)


def _has_no_other_member(group: int) -> bool:
    """True if a group is root's, or the user's private one (with a umask of 002 a user's files are writable by the group)."""
    import grp
    import pwd

    if group == 0:
        return True
    try:
        user, about = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and about.gr_name == user.pw_name and set(about.gr_mem) <= {user.pw_name}
