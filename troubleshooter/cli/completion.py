"""Values that a shell offers: ids of entries, areas, files. This never compiles, reads standard input or raises an error."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from kb.home import home
from troubleshooter.cli.options import Option

MOST_FILES = 200
_FIRST_TAB = '[[ $zsh_eval_context[-1] == loadautofunc ]] && _troubleshoot_completion "$@"'
_PLAIN = re.compile(r"[\w./+@%,=-]+\Z")
"""Names that need no quotes in any shell."""


def mend_zsh() -> None:
    """Change the zsh function that Typer installed, so that the first Tab in a shell works, too.

    zsh runs the file as the function itself at the first Tab. Typer's file only defines another function then and offers nothing.
    """
    path = Path(home() or os.devnull) / ".zfunc" / "_troubleshoot"
    with suppress(OSError):
        text = path.read_text(encoding="utf-8")
        if "loadautofunc" not in text:
            path.write_text(f"{text.rstrip()}\n{_FIRST_TAB}\n", encoding="utf-8")


def completer(option: Option) -> Callable[[str], list[str]]:
    """The function that Typer asks for the values of an option that begin with what was typed."""

    def values(incomplete: str) -> list[str]:
        try:
            found = [value for value in _values(option) if value.startswith(incomplete)]
            if found and option.completes == "entry or file":
                found += files(incomplete)
            return found
        except (OSError, ValueError, KeyError, TypeError, IndexError):  # a broken cache or pack: offer nothing
            return []

    return values


def files(incomplete: str) -> list[str]:
    """Files and folders whose names begin with what was typed. Names that need quotes are left out."""
    folder, _, start = incomplete.rpartition("/")
    place = folder + "/" if folder or incomplete.startswith("/") else ""
    try:
        with os.scandir(place or ".") as inside:
            names = sorted(
                place + item.name + ("/" if item.is_dir() else "")
                for item in inside
                if item.name.startswith(start) and (start or not item.name.startswith("."))
            )
    except OSError:
        return []
    return [name for name in names if _PLAIN.match(name)][:MOST_FILES]


def _values(option: Option) -> Iterable[str]:
    if option.suggested:
        return option.suggested
    from kb.known import known_areas, known_ids

    return known_areas() if option.completes == "area" else known_ids()
