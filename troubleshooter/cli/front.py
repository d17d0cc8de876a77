"""The short way from the command line to a diagnosis: the options of `diagnose`, read without a parser library.

Typer costs as much as the whole rest of an answer. So plain forms are read here; anything else (help, errors,
completion) goes to the Typer command of the same options. A test holds the two to the same result.
"""

from __future__ import annotations

from pathlib import Path

from troubleshooter.lean import dataclass, field

FORMATS = ("terminal", "json", "markdown", "html")
LANGUAGES = ("en", "zh")


@dataclass(slots=True)
class Options:
    """What the user asked of a diagnosis. No files and no text means standard input, or the paste prompt."""

    files: list[str] = field(default_factory=list)
    format: str = "terminal"
    lang: str | None = None
    entries: list[Path] = field(default_factory=list)
    env: str | None = None
    ignore: list[str] = field(default_factory=list)
    top: int | None = None
    quiet: bool = False


def options(arguments: list[str]) -> Options | None:
    """The options, or None where they are not plainly right."""
    out = Options()
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            out.files += rest
        elif argument in ("--quiet", "-q"):
            out.quiet = True
        elif argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            if name not in ("format", "lang", "entries", "env", "ignore", "top"):
                return None
            given = value if equals else next(rest, None)
            if not given or not _take(out, name, given):
                return None
        elif argument.startswith("-") and argument != "-":
            return None
        else:
            out.files.append(argument)
    return out


def _take(out: Options, name: str, value: str) -> bool:
    if name == "format" and value in FORMATS:
        out.format = value
    elif name == "lang" and value in LANGUAGES:
        out.lang = value
    elif name == "entries":
        out.entries.append(Path(value))
    elif name == "env":
        out.env = value
    elif name == "ignore":
        out.ignore.append(value)
    elif name == "top" and value.isdigit() and int(value) > 0:
        out.top = int(value)
    else:
        return False
    return True
