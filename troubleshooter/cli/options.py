"""The options of the command line, each written down once.

Three readers are made from these tables: the plain parser below, the Typer commands (`cli.app`) and the help
(`cli.help`). The plain parser reads arguments without mistakes, because Typer takes longer than the whole rest of an answer.
Everything else (help, completion, mistakes) is left to Typer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.text.catalog import languages
from troubleshooter.report import TOP
from troubleshooter.report.render import FORMATS

if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal["flag", "text", "path", "whole", "number"]
    Completed = Literal["", "entry", "entry or file", "area"]


class Option:
    """One option, or (without ``flags``) one positional argument, of a command.

    ``help`` is the key of its line of help in the catalogue's section ``options``.
    ``name`` is the keyword that the command's function takes; ``flags`` are the spellings, such as ``--quiet`` and ``-q``;
    ``many`` says that it may be given several times, and its value is then a list; ``least`` and ``most`` bound a number;
    ``completes`` says what a shell offers for its value where there are no ``choices``. ``suggested`` values are offered,
    but others are taken too. ``rest`` takes all that follows ``--``, whatever it looks like: a command; where the command takes
    no other words, also all from the first word on.
    """

    __slots__ = (
        "choices", "completes", "default", "flags", "help", "kind", "least", "many", "metavar", "most", "name", "required",
        "rest", "suggested",
    )  # fmt: skip

    def __init__(
        self, name: str, *flags: str, help: str, kind: Kind = "text", metavar: str = "", choices: tuple[str, ...] = (),
        suggested: tuple[str, ...] = (), default: Any = None, least: int | None = None, most: int | None = None,
        many: bool = False, completes: Completed = "", required: bool = False, rest: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        self.flags = flags
        self.help = help
        self.kind = kind
        self.metavar = metavar or ("" if kind == "flag" else "|".join(choices or suggested) or name.upper())
        self.choices = choices
        self.suggested = suggested
        self.default = False if kind == "flag" and default is None else default
        self.least = least
        self.most = most
        self.many = many or rest
        self.rest = rest
        self.completes = completes
        self.required = required

    def start(self) -> Any:
        """The value if the option is not given."""
        return [] if self.many else self.default

    def read(self, text: str) -> Any:
        """The value that a text stands for. Raises ValueError if the option does not take it."""
        if self.choices and text not in self.choices:
            raise ValueError(text)
        if self.kind == "path":
            return Path(text)
        if self.kind in ("whole", "number"):
            number = int(text) if self.kind == "whole" else float(text)
            if (self.least is not None and number < self.least) or (self.most is not None and number > self.most):
                raise ValueError(text)
            return number
        return text

    def spellings(self) -> dict[str, bool]:
        """The value for each spelling of the option: ``--open`` is True and ``--no-open`` is False."""
        return {part: number == 0 for flag in self.flags for number, part in enumerate(flag.split("/"))}


FILES = Option(
    "files", many=True, metavar="FILE",
    help="files",
)  # fmt: skip
FORMAT = Option("format", "--format", choices=tuple(FORMATS), default="terminal", help="format")
SHORT_FORMAT = Option("format", "--format", choices=("terminal", "json"), default="terminal", help="short-format")
LANG = Option(
    "lang", "--lang", choices=languages(),
    help="lang",
)  # fmt: skip
BRIEF = Option(
    "brief",
    "--brief",
    kind="flag",
    help="brief",
)
QUIET = Option("quiet", "--quiet", "-q", kind="flag", help="quiet")
COUNT = Option(
    "top",
    "--top",
    kind="whole",
    metavar="N",
    default=TOP,
    least=1,
    help="top",
)
ENV = Option(
    "env", "--env", metavar="PYTHON",
    help="env",
)  # fmt: skip
FACTS = Option(
    "facts", "--facts", kind="path", metavar="PATH", many=True,
    help="facts",
)  # fmt: skip
ENTRIES = Option(
    "entries", "--entries", kind="path", metavar="DIR", many=True,
    help="entries",
)  # fmt: skip
PROBES = Option(
    "probes", "--probes", kind="path", metavar="DIR", many=True,
    help="probes",
)  # fmt: skip
IGNORE = Option(
    "ignore", "--ignore", metavar="ID", many=True, completes="entry",
    help="ignore",
)  # fmt: skip

EXIT_BY = Option(
    "exit_by", "--exit-by", choices=("verdict", "retry"), default="verdict",
    help="exit-by",
)  # fmt: skip
HISTORY = Option(
    "history", "--history", kind="path", metavar="FILE",
    help="history",
)  # fmt: skip

DIAGNOSE = (FILES, FORMAT, BRIEF, LANG, COUNT, ENV, FACTS, ENTRIES, IGNORE, HISTORY, EXIT_BY, QUIET)
"""The options of a diagnosis."""


class Options:
    """What the user asked of a diagnosis. No files means standard input, or the paste prompt on a terminal."""

    __slots__ = tuple(option.name for option in DIAGNOSE)

    files: list[str]
    format: str
    brief: bool
    lang: str | None
    top: int
    env: str | None
    facts: list[Path]
    entries: list[Path]
    ignore: list[str]
    history: Path | None
    exit_by: str
    quiet: bool

    def __init__(self, **given: Any) -> None:
        for option in DIAGNOSE:
            setattr(self, option.name, given.pop(option.name, option.start()))
        if given:
            raise TypeError(f"no such options: {', '.join(given)}")


def read_plain(arguments: Sequence[str], options: Sequence[Option]) -> dict[str, Any] | None:
    """The options' values by name, or None if the arguments ask for help or contain a mistake."""
    by_flag = {flag: (option, value) for option in options for flag, value in option.spellings().items()}
    values = {option.name: option.start() for option in options}
    positional: list[str] = []
    behind = next((option for option in options if option.rest), None)
    others = any(not option.flags and not option.rest for option in options)
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            if behind is None:
                positional += rest
            else:
                values[behind.name] = list(rest)
            break
        if behind is not None and not others and (argument == "-" or not argument.startswith("-")):
            values[behind.name] = [argument, *rest]
            break
        if argument == "-" or not argument.startswith("-"):
            positional.append(argument)
            continue
        flag, equals, text = argument.partition("=")
        option, value = by_flag.get(flag, (None, False))
        if option is None or (equals and not flag.startswith("--")):
            return None
        if option.kind == "flag":
            if equals:
                return None
            values[option.name] = value
        elif not _take(option, text if equals else next(rest, ""), values):
            return None
    if behind is not None and behind.required and not values[behind.name]:
        return None
    for option in options:
        if option.flags or option.rest:
            continue
        if option.required and not positional:
            return None
        taken, positional = (positional, []) if option.many else (positional[:1], positional[1:])
        if not all(_take(option, text, values) for text in taken):
            return None
    return None if positional else values


def _take(option: Option, text: str, values: dict[str, Any]) -> bool:
    """Read one value of the option into ``values``. False if the option does not take this text."""
    try:
        value = option.read(text)
    except ValueError:
        return False
    if option.many:
        values[option.name].append(value)
    else:
        values[option.name] = value
    return text != ""
