"""Check that the code of a fix can be pasted: it parses in its language, and nothing is left to fill in.

A fix is shown with its placeholders filled from the log, or with their defaults. Here they are filled with their default or
with an example of their type, so that what is checked is what a reader gets.
"""

from __future__ import annotations

import ast
import configparser
import contextlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import yaml
from packaging.requirements import InvalidRequirement, Requirement

from kb.form import EntryFix
from kb.placeholders import HOLE

EXAMPLES = {
    "word": "word", "identifier": "name", "version": "1.2.3", "integer": "4", "number": "0.5", "path": "folder/file",
    "dtype": "float32", "text": "text",
}  # fmt: skip
"""A value of each type of placeholder, for those without a default."""
_TO_FILL_IN = re.compile(r"(?<![<\w-])<[A-Za-z][\w .|/-]{0,40}>")
_IN_QUOTES = re.compile(r"'[^']*'|\"[^\"]*\"")
_INSTALL = {("pip", "install"), ("pip3", "install")}
"""How a command of pip or of ``uv pip`` begins that installs, without the mark of a notebook before it."""
_PIN = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,.-]*\])?={2,3}(?P<version>\d[\w.!]*)(?![\w.*+!])")
"""An exact pin; not ``==2.6.*``, which is a bound, nor a local build (``==2.4.0+cu121``), which can only be pinned."""
_INSTALLS = re.compile(r"\b(?:install|add)\b|#")
"""What stands before a requirement: a command that installs it, or a comment that names it."""
_REASON = re.compile(
    r"\b(?:exactly|the (?:version|release|transformers|trl|vllm|torch|gym|ray|verl) (?:that|under|you|it)"
    r"|(?:was |were |is )(?:written|made|built|saved|tested) (?:for|with|under)"
    r"|(?:which|that|it|this|project|repository|README|recipe|requirements|code|checkout|framework|LLaVA|Dockerfile|pyproject\.toml) (?:pins|names?|accepts)"
    r"|made for the installed|belongs? together)\b",
    re.IGNORECASE,
)
"""Phrases with which a fix says why only one release will do."""
_HELD = "\0"
"""A placeholder while a command is read."""
_SHELL_PIECES = re.compile(r"(?s)\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|(?<!\S)#[^\n]*|.")
"""The parts of a command: an escaped character, a text in quotes, a comment, any other character."""
_QUOTED = frozenset({"text", "path"})
"""Types whose values may be put in quotes when they are filled in (`troubleshooter.report.fill`)."""
_VALUED = (
    "-i",
    "-r",
    "-c",
    "-t",
    "-f",
    "--index-url",
    "--extra-index-url",
    "--find-links",
    "--target",
    "--requirement",
    "--constraint",
    "-e",
    "--editable",
    "--python",
    "--retries",
    "--timeout",
)
"""Options of ``pip install`` that take the next word."""


class Fault(NamedTuple):
    """Something in a fix that cannot be pasted as it is: the field, and what is wrong in a sentence."""

    field: str
    message: str


def faults(fix: EntryFix) -> Iterator[Fault]:
    """The fields of a fix that cannot be pasted, each with the reason."""
    if fix.code is not None:
        text = filled(fix.code)
        if (said := _PARSERS[fix.language](text)) is not None:
            yield Fault("code", f"is not {fix.language}: {said}")
        elif fix.language == "python" and starts_one_worker(text):
            yield Fault(
                "code", "num_proc=1 starts a process since datasets 4.1.0: leave it out, or write num_proc=None"
            )
    if fix.shell is not None:
        text = filled(fix.shell)
        if (said := shell_fault(text)) is not None:
            yield Fault("shell", said)
        yield from (Fault("shell", said) for said in pins(fix.shell, f"{fix.do} {fix.why or ''} {fix.shell}"))
        for hole in quoted_twice(fix.shell):
            yield Fault(
                "shell", f"has {hole} in quotes, and its value gets quotes of its own: leave the outer ones out"
            )


def filled(text: str) -> str:
    """A text with each placeholder's default, or an example of its type."""
    return HOLE.sub(lambda m: m["default"] if m["default"] is not None else EXAMPLES[m["type"] or "word"], text)


def quoted_twice(shell: str) -> list[str]:
    """The placeholders in the quotes of a command whose values may get quotes of their own, because they may hold blanks or other
    characters that mean something to a shell. The inner quotes would be part of the argument."""
    holes: list[re.Match[str]] = []

    def hold(hole: re.Match[str]) -> str:
        holes.append(hole)
        return _HELD

    found = []
    number = 0
    for piece in _SHELL_PIECES.findall(HOLE.sub(hold, shell)):
        for _ in range(piece.count(_HELD)):
            hole = holes[number]
            number += 1
            if piece[0] in "'\"" and hole["type"] in _QUOTED:
                found.append(hole[0])
    return found


def python_fault(text: str) -> str | None:
    """Why a text is not Python; None where it is. ``await`` and ``return`` may stand outside of functions, as in an excerpt."""
    try:
        compile(text, "fix", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    return None


def starts_one_worker(text: str) -> bool:
    """Whether Python code calls ``map`` or ``filter`` of a data set with ``num_proc=1``, which no longer means "no process"."""
    tree = compile(text, "fix", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return any(
        word.arg == "num_proc" and isinstance(word.value, ast.Constant) and word.value.value == 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("map", "filter")
        for word in node.keywords
    )


def yaml_fault(text: str) -> str | None:
    """Why a text is not YAML; None where it is."""
    try:
        list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        return " ".join(str(error).split())[:120]
    return None


def json_fault(text: str) -> str | None:
    """Why a text is not JSON, nor members of an object; None where it is."""
    members = text.strip().rstrip(",")
    for whole in (members, "{" + members + "}"):
        try:
            json.loads(whole)
        except json.JSONDecodeError as error:
            said = f"line {error.lineno}: {error.msg}"
        else:
            return None
    return said


def ini_fault(text: str) -> str | None:
    """Why a text is not an INI file; None where it is."""
    try:
        configparser.ConfigParser(interpolation=None).read_string(text)
    except configparser.MissingSectionHeaderError:
        return ini_fault(f"[section]\n{text}")
    except configparser.Error as error:
        return error.message.splitlines()[0]
    return None


def shell_fault(text: str) -> str | None:
    """Why a text is no shell command, or what is left to be filled in; None where it can be pasted."""
    if (hole := _TO_FILL_IN.search(_IN_QUOTES.sub("", text))) is not None:
        return f"a shell reads {hole[0]!r} as a file to read from; write a word such as YOUR_TEAM"
    if (bash := shutil.which("bash")) is None:  # Windows
        return None
    done = subprocess.run([bash, "-n"], input=text, capture_output=True, text=True, check=False)
    return done.stderr.strip().removeprefix("bash: ") or "does not parse" if done.returncode else None


def pins(command: str, said: str) -> Iterator[str]:
    """Exact pins of a command and its comments without a reason. ``said``: what the fix says beside the command.

    A pin is a version that somebody has to keep; a bound stays right. A version that is taken from the log is none.
    """
    if _REASON.search(said):
        return
    for line in command.splitlines():
        if (installs := _INSTALLS.search(line)) is not None:
            for pin in _PIN.finditer(line, installs.end()):
                yield f"pins {pin['name']}=={pin['version']}: give a bound, or say why only this release will do"


def requirements(command: str) -> Iterator[Requirement]:
    """The packages that ``pip install`` commands ask for; paths, URLs, options, comments and what another command prints are left out."""
    for line in command.splitlines():
        for words in _installs(line):
            before = ""
            for word in words:
                if word.startswith("$("):
                    break
                if before not in _VALUED and not word.startswith(("-", ".", "/")) and "://" not in word:
                    with contextlib.suppress(InvalidRequirement):
                        yield Requirement(word)
                before = word


def _installs(line: str) -> Iterator[list[str]]:
    """What follows each ``pip install`` of a line, up to the next command."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    reader.whitespace_split = True
    try:
        words = list(reader)
    except ValueError:  # a quote that is not closed
        return
    ends = [at for at, word in enumerate(words) if not word.strip(";&|")]
    for begin, end in zip([-1, *ends], [*ends, len(words)], strict=True):
        of_one = words[begin + 1 : end]
        for at, pair in enumerate(pairwise(of_one)):
            if (pair[0].lstrip("!%"), pair[1]) in _INSTALL:
                yield of_one[at + 2 :]
                break


_PARSERS: dict[str, Callable[[str], str | None]] = {
    "python": python_fault,
    "yaml": yaml_fault,
    "json": json_fault,
    "ini": ini_fault,
    "text": lambda _: None,
}
