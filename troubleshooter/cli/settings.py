"""Settings: the language of the answer, and the entries that a team has chosen to ignore, with a reason each."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

CONFIG = ".troubleshoot.toml"


class SettingsError(Exception):
    """A config file that cannot be used: one sentence with place and next step."""


def language(asked: str | None) -> str:
    """``--lang``, then ``TROUBLESHOOT_LANG``, then the locale; English where none of them says Chinese."""
    for value in (asked, os.environ.get("TROUBLESHOOT_LANG")):
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def ignored(asked: list[str]) -> dict[str, str]:
    """Reasons by entry id: those of ``.troubleshoot.toml`` (here or above, then the user's), then ``--ignore``.

    The file's form: ``[ignore]`` with ``entry-id = "reason"``. Raises `SettingsError`.
    """
    out: dict[str, str] = {}
    for path in _files():
        table = _read(path).get("ignore", {})
        if not isinstance(table, dict):
            raise SettingsError(f'{path}: [ignore] is no table; expected lines such as: entry-id = "reason"')
        for id_, reason in table.items():
            if not isinstance(reason, str) or not reason.strip():
                raise SettingsError(
                    f'{path}: [ignore] {id_}: expected a reason, such as: {id_} = "known, waits for 4.51"'
                )
            out.setdefault(id_, reason)
    return out | dict.fromkeys(asked, "--ignore")


def _files() -> list[Path]:
    here = Path.cwd()
    found = next((f / CONFIG for f in (here, *here.parents) if (f / CONFIG).is_file()), None)
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    user = Path(base) / "llm-troubleshooter" / "config.toml"
    return [path for path in (found, user if user.is_file() else None) if path is not None]


def _read(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: cannot be used: {error}") from error
