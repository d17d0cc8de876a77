"""The help, made from the tables of options and commands: the first page, and a page for each command."""

from __future__ import annotations

from typing import cast

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from troubleshooter.cli.commands import COMMANDS, Command
from troubleshooter.cli.options import DIAGNOSE, Help, Option
from troubleshooter.report.terminal import Plain

WIDTH = 80
_COLUMN = 29

_TOP = (
    """\
Usage: troubleshoot [OPTIONS] [FILE...]      diagnose logs, a pipe or a paste
       troubleshoot COMMAND [ARGUMENTS]      (troubleshoot COMMAND --help)

  python train.py 2>&1 | troubleshoot        watch a run, then get the diagnosis
  troubleshoot slurm-4711.out                a log, or a run's folder
  troubleshoot                               paste a traceback""",
    """\
用法：troubleshoot [选项] [文件...]          诊断日志、管道或粘贴的内容
      troubleshoot 命令 [参数]               （troubleshoot 命令 --help）

  python train.py 2>&1 | troubleshoot        边看训练边等诊断
  troubleshoot slurm-4711.out                一份日志，或一次运行的目录
  troubleshoot                               粘贴一段 traceback""",
)
_OPTIONS = ("Options:", "选项：")
_OWN = (
    ("-h, --help", ("This page; after a command, the command's.", "本页；写在命令之后则是该命令的说明。")),
    ("-V, --version", ("Version, date and size of the knowledge.", "版本，以及知识库的日期和规模。")),
    ("--install-completion", ("Tab completion for this shell.", "为当前 shell 安装 Tab 补全。")),
)
_EXITS = (
    """\
Exit status: 0 nothing wrong, or harmless   1 a failure diagnosed
             2 unreadable input or usage    3 unexplained, or a stopped run""",
    """\
退出状态：0 没有问题或无害     1 诊断出故障
          2 无法读取或用法错误 3 无法解释，或运行被终止""",
)
_COMMANDS = ("Commands:", "命令：")


_USAGE = ("Usage: ", "用法：")
_OPTION = ("[OPTIONS]", "[选项]")
_DEFAULT = (" (default: {})", "（默认：{}）")
_STATUS = ("Exit status: ", "退出状态：")
_HELP: Help = ("This page.", "本页。")


def page(lang: str) -> str:
    """The first page in a language, at most `WIDTH` cells wide."""
    at = 1 if lang == "zh" else 0
    options = [(_left(option), _told(option, at)) for option in DIAGNOSE if option.flags]
    lines = [_TOP[at], "", _OPTIONS[at]]
    lines += _rows([*options, *((left, told[at]) for left, told in _OWN)], _COLUMN)
    lines += ["", _EXITS[at], "", _COMMANDS[at]]
    lines += _rows([(command.name, command.help[at]) for command in COMMANDS], 14)
    return "\n".join(lines) + "\n"


def command_page(command: Command, lang: str) -> str:
    """The page of a command in a language: usage, arguments, options, and what its exit statuses mean."""
    at = 1 if lang == "zh" else 0
    arguments = [option for option in command.options if not option.flags]
    usage = [_USAGE[at] + "troubleshoot", command.name, _OPTION[at], *map(_place, arguments)]
    rows = [(_place(option), _told(option, at)) for option in arguments]
    rows += [(_left(option), _told(option, at)) for option in command.options if option.flags]
    rows.append(("-h, --help", _HELP[at]))
    lines = [" ".join(usage), "", "  " + command.help[at], "", *_rows(rows, _COLUMN), ""]
    if command.exits is not None:
        lines += _wrapped(_STATUS[at] + command.exits[at], 0)
    elif command.name == COMMANDS[0].name:
        lines.append(_EXITS[at])
    return "\n".join(lines).rstrip() + "\n"


def _place(argument: Option) -> str:
    shown = argument.metavar + ("..." if argument.many else "")
    return shown if argument.required else f"[{shown}]"


def _left(option: Option) -> str:
    flags = ", ".join(sorted(option.flags, key=len))
    return f"{flags} {option.metavar}".rstrip()


def _told(option: Option, at: int) -> str:
    shown = option.flags and option.kind != "flag" and option.default not in (None, "")
    return option.help[at] + (_DEFAULT[at].format(option.default) if shown else "")


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
    console = cast("Console", Plain(WIDTH))  # asked for nothing: the text is not justified
    return [" " * indent + line.plain.rstrip() for line in Text(text).wrap(console, WIDTH - indent)]
