"""Settings: the language of the answer, and the entries that a team has chosen to ignore, with a reason each."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from kb.compiled import Pack
from kb.errors import TroubleshootError, UsageError
from kb.home import home
from kb.nearest import did_you_mean
from kb.text.catalog import ENGLISH, of_locale

CONFIG = ".troubleshoot.toml"
TABLES = ("ignore",)


class SettingsError(TroubleshootError):
    """A config file that cannot be used: one sentence with place and next step."""


def language(asked: str | None) -> str:
    """What ``--lang`` says, then ``TROUBLESHOOT_LANG``, then the locale; English where the program does not speak it."""
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
    for path in _files():
        settings = _read(path)
        for name in settings:
            if name not in TABLES:
                _warn(f"{path}: [{name}] is no known setting; {did_you_mean(name, TABLES, 'expected [ignore]')}")
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


def _unknown(id_: str, packs: Sequence[Pack]) -> str:
    """What is wrong with the id, or nothing."""
    if any(id_ in pack.index.by_id for pack in packs):
        return ""
    known = [known for pack in packs for known in pack.index.ids]
    return f"{id_}: no such entry; {did_you_mean(id_, known, 'see: troubleshoot list')}"


def _warn(text: str) -> None:
    from troubleshooter.report.fill import safe

    print(f"troubleshoot: {safe(text)}", file=sys.stderr)


def _files() -> list[str]:
    """The settings files that there are. A folder that may not be looked into holds none."""
    found = []
    try:
        here = os.getcwd()
    except OSError:  # removed, or not to be read
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


def _read(path: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, encoding="utf-8") as file:
            return tomllib.loads(file.read())
    except PermissionError as error:  # settings of somebody else: said, but no reason to give no answer
        _warn(f"{path}: not used: {error.strerror}")
        return {}
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: cannot be used: {error}") from error
