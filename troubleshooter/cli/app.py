"""The Typer application, made from the tables of options and commands: parsing, usage errors, help, completion."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from kb.errors import UsageError
from kb.text.catalog import Section
from troubleshooter.cli.commands import COMMANDS, Command
from troubleshooter.cli.completion import completer, mend_zsh
from troubleshooter.cli.options import Option
from troubleshooter.cli.settings import language

Asked = tuple[Command, dict[str, Any]]
"""A command, and its options' values by name."""

DEFAULT = COMMANDS[0].name
PROGRAM = "troubleshoot"
_command = Section("commands")
_option = Section("options")


def parsed(arguments: Sequence[str]) -> Asked:
    """What the arguments ask for. Raises SystemExit after help, a version, completion or a usage error."""
    chosen: list[Asked] = []
    _refuse_empty(arguments)
    arguments, behind = _split(arguments)
    made = application(language(_asked_language(arguments)), chosen.append)
    try:
        made(args=list(arguments), prog_name=PROGRAM)
    except SystemExit:
        if "--install-completion" in arguments:
            mend_zsh()
        if not chosen:
            raise
    command, values = chosen[0]
    return command, {**values, **behind}


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Raise `UsageError` for an empty argument, which as a path would mean the current folder. The words of a command that is
    run may be empty."""
    named = next((command for command in COMMANDS if arguments and command.name == arguments[0]), COMMANDS[0])
    own = list(arguments)
    if any(option.rest for option in named.options):
        own = own[: [*own, "--"].index("--")] if _set_apart(named) is not None else []
    if "" in own:
        raise UsageError("one of the arguments is empty; is the variable that it comes from unset?")


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], dict[str, list[str]]]:
    """The arguments up to ``--``, and what follows it as a value, for a command that takes words before it, too."""
    named = next((command for command in COMMANDS if arguments and command.name == arguments[0]), None)
    if named is None or "--" not in arguments or (rest := _set_apart(named)) is None:
        return arguments, {}
    at = list(arguments).index("--")
    return arguments[:at], {rest.name: list(arguments[at + 1 :])}


def _set_apart(command: Command) -> Option | None:
    """The option that takes what follows ``--`` where others take words before it; Typer cannot tell them apart."""
    rest = next((option for option in command.options if option.rest), None)
    others = any(not option.flags and not option.rest for option in command.options)
    return rest if others else None


def application(lang: str, choose: Callable[[Asked], None]) -> typer.Typer:
    """The application in a language. A command is not run: it is given to ``choose``, with its options."""
    app = typer.Typer(
        name=PROGRAM, cls=_WithDefault, add_completion=True, pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "obj": lang},
    )  # fmt: skip

    def tell_version(asked: bool) -> None:
        if asked:
            from troubleshooter.cli.version import version

            print(version(lang))
            raise typer.Exit

    told = Section("help")("version-flag", lang)
    flag = typer.Option(False, "--version", "-V", callback=tell_version, is_eager=True, metavar="", help=told)

    @app.callback()
    def _shared(version: bool = flag) -> None:
        """Options of the program itself."""

    for command in COMMANDS:
        rest = any(option.rest for option in command.options) and _set_apart(command) is None
        app.command(
            command.name, help=_command(command.name, lang), cls=_Documented,
            context_settings={"allow_interspersed_args": not rest},
        )(_function(command, lang, choose))  # fmt: skip
    return app


class _Documented(TyperCommand):
    """A command whose help is made from its table."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from troubleshooter.cli.help import command_page

        formatter.write(command_page(next(c for c in COMMANDS if c.name == self.name), ctx.obj))


class _WithDefault(TyperGroup):
    """A group whose first command is meant where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {flag for param in self.get_params(ctx) for flag in param.opts}
        if args and args[0] not in self.commands and args[0] not in own:
            asks = not ctx.resilient_parsing and not {"-h", "--help"}.isdisjoint(args[: [*args, "--"].index("--")])
            args = ["--help"] if asks else [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Commands; beside them what the default command takes in the same place: its options, or files."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            command = self.commands[DEFAULT]
            inner = command.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True)
            return found + command.shell_complete(inner, incomplete)
        if found:  # a shell completes files by itself only where nothing else fits
            from troubleshooter.cli.completion import files

            found += [type(found[0])(name) for name in files(incomplete)]
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from troubleshooter.cli.help import page

        formatter.write(page(ctx.obj))


def _function(command: Command, lang: str, choose: Callable[[Asked], None]) -> Callable[..., None]:
    """A function with the signature that Typer reads the command's options from."""

    def choose_work(**given: Any) -> None:
        choose((command, {o.name: o.start() if given.get(o.name) is None else given[o.name] for o in command.options}))

    apart = _set_apart(command)
    parameters = [_parameter(option, lang) for option in command.options if option is not apart]
    choose_work.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    choose_work.__annotations__ = {p.name: p.annotation for p in parameters}
    return choose_work


def _parameter(option: Option, lang: str) -> inspect.Parameter:
    types = {"flag": bool, "text": str, "path": Path, "whole": int, "number": float}
    value: Any = types[option.kind]
    if option.choices:
        value = Literal[option.choices]
    if option.many:
        value = list[value]
    if not option.required and option.default is None:
        value = value | None
    given: dict[str, Any] = {"help": _option(option.help, lang), "metavar": option.metavar}
    if option.least is not None:
        given.update(min=option.least, max=option.most)
    if option.completes or option.suggested:
        given["autocompletion"] = completer(option)
    if option.flags:
        info = typer.Option(
            option.default, *option.flags, show_default=bool(option.default) and option.kind != "flag", **given
        )
    else:
        info = typer.Argument(... if option.required else option.default, show_default=False, **given)
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=value)


def _asked_language(arguments: Sequence[str]) -> str | None:
    """The language of the help: what ``--lang`` says anywhere, as the help is shown before options are read."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if argument.startswith("--lang="):
            return argument.removeprefix("--lang=")
        if before == "--lang":
            return argument
    return None
