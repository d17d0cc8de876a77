"""``docs/cli.md``: the help of every command, as the commands print it."""

from __future__ import annotations

from troubleshooter.cli.commands import COMMANDS
from troubleshooter.cli.help import command_page, page

_INTRODUCTION = """\
# Commands

<!-- Made by `python -m docs.make` from the tables of commands and options. Do not edit. -->

These are the help pages as `troubleshoot --help` and `troubleshoot COMMAND --help` print them.
[using.md](using.md) shows the commands at work.

## troubleshoot
"""


def cli() -> str:
    """The page: the first page of the help, then one section a command."""
    sections = [_INTRODUCTION, _block(page("en"))]
    sections += [f"## troubleshoot {command.name}\n\n{_block(command_page(command, 'en'))}" for command in COMMANDS]
    return "\n".join(sections)


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"
