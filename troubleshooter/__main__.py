"""``troubleshoot``: the first argument picks a command; everything else is the log to diagnose."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from troubleshooter.cli.front import Options

COMMANDS = (
    "diagnose", "explain", "list", "show", "search", "check", "new", "wrong", "verify", "browse", "build-site", "scan",
)  # fmt: skip
SELDOM = 100_000
"""New objects from which on garbage is looked for: what one log is made into is nearly all kept until the end (measured: 9 of
265 ms for a log that holds most literals, 1.7 of 59 ms for a pasted traceback, 3.11)."""


def main() -> None:
    """Entry point: diagnosing takes a short way that imports no more than it needs (a tenth of a second counts)."""
    if (other := _shadowed()) is not None:
        print(other, file=sys.stderr)
        raise SystemExit(2)
    arguments = sys.argv[1:]
    if not (arguments and arguments[0] in COMMANDS):
        from troubleshooter.cli.front import options

        if (given := options(arguments)) is not None:
            _end(_answer(given))
        if not _asks_for_help(arguments):
            arguments = ["diagnose", *arguments]
    from troubleshooter.cli.app import app

    app(args=arguments, prog_name="troubleshoot")


def _answer(given: Options) -> int:
    gc.disable()  # nothing that is imported is garbage
    from troubleshooter.cli.run import guarded

    gc.freeze()
    gc.set_threshold(SELDOM)
    gc.enable()
    return guarded(given)


def _end(code: int) -> NoReturn:
    """End the process without taking the interpreter apart first (measured: 6 of 91 ms for a pasted traceback, 3.11)."""
    with suppress(OSError):  # told already
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


def _asks_for_help(arguments: list[str]) -> bool:
    return any(a in ("--help", "-h", "--version", "--install-completion", "--show-completion") for a in arguments)


def _shadowed() -> str | None:
    """One sentence when another package called ``kb`` is imported instead of ours (both names are taken elsewhere)."""
    import kb

    found, ours = Path(kb.__file__ or "").resolve().parent, Path(__file__).resolve().parent.parent / "kb"
    if found == ours or (found / "compiled.py").exists():
        return None
    return (
        f"troubleshoot: another package named kb ({found}) shadows ours; install in an environment of its own: "
        "pipx install llm-troubleshooter"
    )


if __name__ == "__main__":
    main()
