"""Settings: the language of the answer, the entries to ignore (with a reason each), folders of own entries and probes.

There are two files. The project's ``.troubleshoot.toml``, in the working folder or above it, may have come with somebody
else's repository; it can name entries, which are data, and never probes, which are programs. The user's own
``config.toml`` can name both (docs/decisions/0017).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.errors import TroubleshootError, UsageError
from kb.home import home
from kb.text.catalog import ENGLISH, of_locale

if TYPE_CHECKING:
    from kb.compiled import Pack

CONFIG = ".troubleshoot.toml"
TABLES = ("ignore", "entries", "probes")


class SettingsError(TroubleshootError):
    """A settings file cannot be used. The message is one sentence with the place and the next step."""


def language(asked: str | None) -> str:
    """The language of ``--lang``, else of ``TROUBLESHOOT_LANG``, else of the locale; English if the program lacks it."""
    for value in (asked, *(os.environ.get(name) for name in ("TROUBLESHOOT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"))):
        if value:
            return of_locale(value)
    return ENGLISH


def ignored(asked: Sequence[str], packs: Sequence[Pack]) -> dict[str, str]:
    """Reasons by entry id: those of ``.troubleshoot.toml`` (here or above, then the user's), then ``--ignore``.

    The file's form: ``[ignore]`` with ``entry-id = "reason"``. Raises `SettingsError` where a file cannot be used, and
    `UsageError` for an id on the command line that no entry has; in a file it is only warned of, as an entry of a team
    may be on another machine.
    """
    out: dict[str, str] = {}
    for path, settings in _settings(warn=True):
        for name in settings:
            if name not in TABLES:
                from kb.nearest import did_you_mean

                _warn(
                    f"{path}: [{name}] is no known setting; {did_you_mean(name, TABLES, 'expected [ignore], [entries] or [probes]')}"
                )
        table = settings.get("ignore", {})
        if not isinstance(table, dict):
            raise SettingsError(f'{path}: [ignore] is no table; expected lines such as: entry-id = "reason"')
        for id_, reason in table.items():
            if not isinstance(reason, str) or not reason.strip():
                raise SettingsError(
                    f'{path}: [ignore] {id_}: expected a reason, such as: {id_} = "known, waits for 4.51"'
                )
            if id_ not in out and (fault := _unknown(id_, packs)):
                _warn(f"{path}: [ignore] {fault}")
            out.setdefault(id_, reason)
    for id_ in asked:
        if fault := _unknown(id_, packs):
            raise UsageError(f"--ignore {fault}")
    return out | dict.fromkeys(asked, "--ignore")


def entry_folders(asked: Sequence[Path] = ()) -> list[Path]:
    """Folders of entries in the order in which a later one replaces an earlier one: of the user's ``config.toml``, of the
    project's ``.troubleshoot.toml``, of ``TROUBLESHOOT_ENTRIES``, then ``asked`` (``--entries``).

    The file's form: ``[entries]`` with ``folders = ["path"]``, relative to the file. Raises `SettingsError` where a file
    cannot be used or names a folder that does not exist.
    """
    found = [path for path, _ in configured_entries()]
    if os.environ.get("TROUBLESHOOT_ENTRIES"):  # a usual start does without these imports, and those below
        from kb.extensions import folders_from_environment

        found += folders_from_environment()
    return found + list(asked)


def configured_entries() -> list[tuple[Path, str]]:
    """The folders of entries that settings files name, each with the file; the project's after the user's own."""
    found = []
    for file, settings in reversed(_settings()):
        if (folders := _folders(file, settings, "entries")) and not _is_trusted(file):
            _warn(
                f"{file}: its [entries] are not used: others can write this file; name the folders in TROUBLESHOOT_ENTRIES"
            )
            continue
        found += [(folder, file) for folder in folders]
    return found


def probe_folders(asked: Sequence[Path] = ()) -> list[Path]:
    """Folders of a team's own probes: those of the user's ``config.toml`` (``[probes]``, ``folders = ["path"]``), then
    ``asked`` (``--probes``). Probes are executed: a project's file cannot name any, as it may be somebody else's."""
    found = []
    for file, settings in _settings():
        if os.path.basename(file) == CONFIG:
            if "probes" in settings:
                _warn(f"{file}: [probes] is not used: probes are programs; give --probes, or name them in config.toml")
            continue
        found += _folders(file, settings, "probes")
    return [*found, *asked]


def _folders(file: str, settings: dict[str, Any], table: str) -> list[Path]:
    """The folders that a table of a settings file names."""
    named = settings.get(table, {})
    folders = named.get("folders", []) if isinstance(named, dict) else None
    if not isinstance(folders, list) or not all(isinstance(one, str) and one for one in folders):
        raise SettingsError(f'{file}: [{table}] is not as expected; write, for example: folders = ["{table}"]')
    if other := next((key for key in named if key != "folders"), None):
        _warn(f"{file}: [{table}] {other} is no known setting; expected folders")
    found = [Path(os.path.dirname(file), Path(one).expanduser()) for one in folders]
    for folder in found:
        if not folder.is_dir():
            raise SettingsError(f"{file}: [{table}] folders: {folder} is no folder")
    return found


def _is_trusted(file: str) -> bool:
    """True if nobody else can have written the file. The user's own config.toml counts as trusted."""
    from kb.trusted import belongs_to_user

    return os.path.basename(file) != CONFIG or belongs_to_user(file)


def _unknown(id_: str, packs: Sequence[Pack]) -> str:
    """A sentence that says what is wrong with the id; "" if it is known."""
    if any(id_ in pack.index.by_id or any(id_ == alias for alias, _ in pack.index.aliases) for pack in packs):
        return ""
    from kb.nearest import did_you_mean

    known = [known for pack in packs for known in pack.index.ids]
    return f"{id_}: no such entry; {did_you_mean(id_, known, 'see: troubleshoot list')}"


def _warn(text: str) -> None:
    from troubleshooter.report.fill import safe

    print(f"troubleshoot: {safe(text)}", file=sys.stderr)


def _settings(*, warn: bool = False) -> list[tuple[str, dict[str, Any]]]:
    """The existing settings files with their contents, the project's first. ``warn``: warn of one that cannot be read."""
    return [(path, _read(path, warn)) for path in _files()]


def _files() -> list[str]:
    """The paths of the existing settings files. Folders that cannot be read are skipped."""
    found = []
    try:
        here = os.getcwd()
    except OSError:  # the working folder was removed, or cannot be read
        here = ""
    while here:
        path = os.path.join(here, CONFIG)
        if os.path.isfile(path):
            found.append(path)
            break
        above = os.path.dirname(here)
        here = above if above != here else ""
    base = os.environ.get("XDG_CONFIG_HOME") or (os.path.join(home() or "", ".config") if home() else "")
    user = os.path.join(base, "llm-troubleshooter", "config.toml") if base else ""
    if user and os.path.isfile(user):
        found.append(user)
    return found


def _read(path: str, warn: bool) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, encoding="utf-8") as file:
            return tomllib.loads(file.read())
    except PermissionError as error:  # somebody else's settings: warn, but still answer
        if warn:
            _warn(f"{path}: not used: {error.strerror}")
        return {}
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: cannot be used: {error}") from error
