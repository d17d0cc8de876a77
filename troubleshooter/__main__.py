"""``troubleshoot``: the first argument picks a command; everything else is the log to diagnose."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

COMPLETION = "_TROUBLESHOOT_COMPLETE"
"""A shell that asks for completions sets this variable. Then nothing else may be printed, read or diagnosed."""
UNUSABLE = 2
REQUIRED = {"re2": "google-re2", "stringzilla": "stringzilla"}
"""Compiled packages without which no diagnosis is possible, by the name of their module."""


def main() -> None:
    """The entry point. A diagnosis takes a short way that imports only what it needs (docs/decisions/0003)."""
    _mend_streams()
    if (other := _shadowed()) is not None:
        print(other, file=sys.stderr)
        raise SystemExit(UNUSABLE)
    from troubleshooter.cli.commands import COMMANDS
    from troubleshooter.cli.options import read_plain

    arguments = sys.argv[1:]
    named = next((command for command in COMMANDS if arguments and command.name == arguments[0]), None)
    command, rest = (named, arguments[1:]) if named is not None else (COMMANDS[0], arguments)
    values = None if os.environ.get(COMPLETION) else read_plain(rest, command.options)
    if values is None:
        raise SystemExit(guarded(lambda: _run_parsed(arguments)))
    status = guarded(lambda: command.run(values))
    if command is COMMANDS[0]:
        _end(status)
    raise SystemExit(status)


def _run_parsed(arguments: list[str]) -> int:
    from troubleshooter.cli.app import parsed

    command, values = parsed(arguments)
    return command.run(values)


def guarded(work: Callable[[], int]) -> int:
    """Do the work and return its exit status. An error that the user can mend becomes a sentence and status 2; a closed pipe
    ends quietly with 0.

    This is the only place where errors of this program become an exit status. SystemExit passes through, unless the output
    before it could not be written.
    """
    from kb.errors import TroubleshootError
    from troubleshooter.streams import close_output

    try:
        try:
            status = work()
        except TroubleshootError as error:
            _tell(str(error))
            status = error.exit_status
        except SystemExit:
            sys.stdout.flush()
            raise
        except ModuleNotFoundError as error:
            if (package := REQUIRED.get(error.name or "")) is None:
                raise
            _tell(f"the package {package} is not installed; it may have no wheel here (docs/performance.md, Platforms)")
            status = UNUSABLE
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        close_output()
        return 0
    except OSError as error:  # a full disk, a closed descriptor; with a name: a file that cannot be used
        _tell(f"{error.filename or 'the report cannot be written'}: {error.strerror or error}")
        close_output()
        return UNUSABLE
    except KeyboardInterrupt:
        return 130


def _tell(text: str) -> None:
    """Print an error on standard error, without characters that could control the terminal."""
    from kb.clean import clean

    with suppress(OSError):
        print(f"troubleshoot: {clean(text)}", file=sys.stderr)


def _mend_streams() -> None:
    """Replace closed standard streams by empty ones, and let them write ``?`` for characters that they cannot encode."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for the whole process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        print("troubleshoot: standard output is closed: the report cannot be written", file=sys.stderr)
        raise SystemExit(UNUSABLE)
    with suppress(AttributeError, ValueError, OSError):  # a stream that a caller has replaced
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]


def _end(code: int) -> NoReturn:
    """End the process without taking the interpreter apart first (docs/decisions/0003)."""
    with suppress(OSError):  # it was reported already
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


def _shadowed() -> str | None:
    """A sentence if another package named ``kb`` was imported instead of ours; else None."""
    import kb

    found, ours = Path(kb.__file__ or "").resolve().parent, Path(__file__).resolve().parent.parent / "kb"
    if found == ours or (found / "compiled.py").exists():
        return None
    return (
        f"troubleshoot: another package named kb ({found}) shadows ours; install in an environment of its own: "
        "pipx install PATH-OF-THE-CHECKOUT"
    )


if __name__ == "__main__":
    main()
