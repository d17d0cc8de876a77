"""Make the help from the tables of options and commands: the first page, and one page for each command."""

from __future__ import annotations

from typing import cast

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from kb.text.catalog import Section
from troubleshooter.cli.commands import COMMANDS, Command
from troubleshooter.cli.options import DIAGNOSE, Option
from troubleshooter.report.console import Plain

WIDTH = 80
_COLUMN = 29

_say = Section("help")
_command = Section("commands")
_option = Section("options")
_status = Section("exits")
_OWN = {"-h, --help": "help", "-V, --version": "version", "--install-completion": "completion"}
"""The program's own options, with the keys of their lines of help."""


def page(lang: str) -> str:
    """The first page in a language, at most `WIDTH` cells wide."""
    options = [(_left(option), _told(option, lang)) for option in DIAGNOSE if option.flags]
    lines = [_say("top", lang), "", _say("options", lang)]
    lines += _rows([*options, *((flags, _say(key, lang)) for flags, key in _OWN.items())], _COLUMN)
    lines += ["", _say("exits", lang), "", _say("commands", lang)]
    lines += _rows([(command.name, _command(command.name, lang)) for command in COMMANDS], 14)
    return "\n".join(lines) + "\n"


def command_page(command: Command, lang: str) -> str:
    """The page of a command in a language: usage, arguments, options, and what its exit statuses mean."""
    arguments = [option for option in command.options if not option.flags]
    usage = [_say("usage", lang) + "troubleshoot", command.name, _say("option", lang), *map(_place, arguments)]
    rows = [(_place(option), _told(option, lang)) for option in arguments]
    rows += [(_left(option), _told(option, lang)) for option in command.options if option.flags]
    rows.append(("-h, --help", _say("this-page", lang)))
    lines = [" ".join(usage), "", "  " + _command(command.name, lang), "", *_rows(rows, _COLUMN), ""]
    if command.own_exits:
        lines += _wrapped(_say("exit-status", lang) + _status(command.name, lang), 0)
    elif command.name == COMMANDS[0].name:
        lines.append(_say("exits", lang))
    return "\n".join(lines).rstrip() + "\n"


def _place(argument: Option) -> str:
    shown = argument.metavar + ("..." if argument.many else "")
    return shown if argument.required else f"[{shown}]"


def _left(option: Option) -> str:
    flags = ", ".join(sorted(option.flags, key=len))
    return f"{flags} {option.metavar}".rstrip()


def _told(option: Option, lang: str) -> str:
    shown = option.flags and option.kind != "flag" and option.default not in (None, "")
    return _option(option.help, lang) + (_say("default", lang, value=option.default) if shown else "")


def _rows(rows: list[tuple[str, str]], column: int) -> list[str]:
    lines: list[str] = []
    for left, told in rows:
        first, *more = _wrapped(told, column)
        if cell_len(left) > column - 4:
            lines += [f"  {left}", first]
        else:
            lines.append(f"  {left}" + first[2 + cell_len(left) :])
        lines += more
    return lines


def _wrapped(text: str, indent: int) -> list[str]:
    console = cast("Console", Plain(WIDTH))  # `Text.wrap` needs a console only for justified text
    return [" " * indent + line.plain.rstrip() for line in Text(text).wrap(console, WIDTH - indent)]
