"""What the run's own command gives by name: options of the command line, and values of the configuration files that it names.

The log shows the command. A configuration file is read as text, line by line, where the file that the command names is on
this machine: its values are shown only for an argument that the failure is about.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import NamedTuple

from kb import lazy
from troubleshooter.explaining.remedy import UNKNOWN, literal
from troubleshooter.observe.model import Failure, ShownCommand

MAX_CONFIG_BYTES, MAX_CONFIGS, MAX_LINES = 200_000, 4, 4_000
"""Read of one configuration file, of how many, and how many of its lines."""
MAX_VALUE = 300
COMMAND = "log:"
"""How the place of a value begins that a command in the log gives; the line follows."""
_SCRIPT = lazy.compile(r"\.(?:py|pyz)$")
_CONFIG = lazy.compile(r"\.(?:ya?ml|json)$")
_LAUNCHED = frozenset(("trl", "swift", "llamafactory-cli", "axolotl", "tune"))
"""Commands that take the options of the run themselves, without a script."""
_ENTRY = lazy.compile(r"""^\s{0,80}(?:- )?["']?(?P<k>[A-Za-z_][\w.-]{0,80})["']?\s{0,20}:\s(?P<v>\S.{0,300})$""")
_NUMBER = lazy.compile(
    r"[-+]?(?:\d[\d_]{0,30}|\d{0,30}\.\d{1,30}(?:[eE][-+]\d{1,3})?|\d{1,30}\.(?:\d{0,30}[eE][-+]\d{1,3})?)$"
)
"""Numbers of YAML: ``2e-5`` is a text there, ``2.0e-5`` a number."""
_SECRET = lazy.compile(r"(?i)key|token|secret|passw|credential|auth")
"""Names whose values may be secrets; `redact` decides."""
_FAILED = lazy.compile(r"Command '(?P<c>\[[^\n]{1,8000}\])' (?:returned non-zero|died with)")


class RunValue(NamedTuple):
    """A value with the place that gives it. ``is_text``: whether it is one although it may be written as a number."""

    name: str
    text: str
    place: str
    is_text: bool = False

    @property
    def expression(self) -> ast.expr:
        return ast.parse(self.source, mode="eval").body

    @property
    def source(self) -> str:
        """The value as Python source."""
        value = literal(self.text) if not self.is_text else UNKNOWN
        if value is not UNKNOWN:
            return self.text
        plain = {"true": "True", "false": "False", "null": "None", "~": "None"}.get(self.text.lower())
        return plain or repr(self.text.strip("'\"") if not self.is_text or self.text[:1] in "'\"" else self.text)


class RunOptions:
    """The options of the run. ``commands``: as the log shows them.

    ``folders``: those whose files may be read: the current one, and those of the user's own files. A log comes from a stranger,
    so what it names elsewhere is left alone.
    """

    def __init__(
        self, commands: Sequence[ShownCommand], failures: Sequence[Failure] = (), folders: Sequence[str] = ()
    ) -> None:
        self._commands = commands
        self._failures = failures
        self._folders = folders

    def one(self, name: str) -> RunValue | None:
        """The value of a name: what the command line gives, else what one configuration file gives it once."""
        if (given := self._options.get(name)) is not None:
            return given
        found = [one for one in self._configured if one.name == name]
        return found[0] if len({one.text for one in found}) == 1 else None

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The options of the command line, each with its text."""
        return {one.name: one.text for one in self._options.values()}

    @cached_property
    def _words(self) -> list[tuple[list[str], str]]:
        """The words of each command behind the script, with the place that shows them."""
        found = []
        for command in self._commands:
            try:
                words = shlex.split(command.text, posix=True)
            except ValueError:  # a quote that is not closed
                continue
            found.append((_behind_script(words), f"{COMMAND}{command.line.number}"))
        for failure in self._failures:
            said = _FAILED.match(failure.message) if failure.type == "CalledProcessError" else None
            listed = literal(said["c"]) if said is not None else UNKNOWN
            if isinstance(listed, list) and all(isinstance(word, str) for word in listed):
                found.append((_behind_script(listed), f"{COMMAND}{failure.line.number}"))
        return found

    @cached_property
    def _options(self) -> dict[str, RunValue]:
        """What the commands give by name; without a name that several commands give different values."""
        found: dict[str, list[RunValue]] = {}
        for words, place in self._words:
            for name, text in _options(words):
                found.setdefault(name, []).append(RunValue(name, text, place))
        return {name: several[-1] for name, several in found.items() if len({one.text for one in several}) == 1}

    @cached_property
    def _configured(self) -> list[RunValue]:
        paths = dict.fromkeys(
            part
            for words, _ in self._words
            for word in words
            for part in (word.rpartition("=")[2],)
            if _CONFIG.search(part)
        )
        return [one for path in list(paths)[:MAX_CONFIGS] for one in self._read(path)]

    def _read(self, path: str) -> list[RunValue]:
        if ".." in path.split("/") or path.startswith(("//", "~", "\\")):
            return []
        for folder in self._folders:
            whole = os.path.join(folder, path)
            try:
                inside = os.path.realpath(whole).startswith(os.path.realpath(folder or ".") + os.sep)
                if not inside or not os.path.isfile(whole) or os.path.getsize(whole) > MAX_CONFIG_BYTES:
                    continue
                with open(whole, encoding="utf-8", errors="replace") as file:
                    return list(_entries(file.read(MAX_CONFIG_BYTES), PurePath(path).name))
            except (OSError, ValueError):
                continue
        return []


def _behind_script(words: Sequence[str]) -> list[str]:
    """The words that the run itself gets: those behind the script or the module, or behind a command that needs none."""
    for number, word in enumerate(words):
        if _SCRIPT.search(word) or (word == "-m" and number and "python" in words[number - 1]):
            return list(words[number + (2 if word == "-m" else 1) :])
        if PurePath(word).name in _LAUNCHED:
            return list(words[number + 1 :])
    return []


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """``--name value``, ``--name=value``, ``--flag`` and ``name=value`` of a command line."""
    number = 0
    while number < len(words):
        word, number = words[number], number + 1
        begin, is_set, value = word.partition("=")
        name = begin.lstrip("-+").replace("-", "_").rpartition(".")[2]
        if not name.isidentifier() or not (begin.startswith("--") or is_set):
            continue
        several: list[str] = []
        while not is_set and number < len(words) and not _is_option(words[number]):
            several.append(words[number])
            number += 1
        if len(several) > 1:
            yield name, repr(several)
        else:
            yield name, (value if is_set else several[0] if several else "True")[:MAX_VALUE]


def _is_option(word: str) -> bool:
    return word.startswith("-") and literal(word) is UNKNOWN


def _is_secret(setting: str) -> bool:
    from troubleshooter.redact import Redactor  # few settings are asked about, and a start must not wait for it

    redactor = Redactor()
    redactor.redact(setting)
    return redactor.taken["token"] > 0


def _entries(text: str, file: str) -> Iterator[RunValue]:
    """The entries of a YAML or JSON file that stand on one line each."""
    is_json = file.endswith(".json")
    for number, line in enumerate(text.split("\n")[:MAX_LINES], 1):
        found = _ENTRY.match(line) if not line.lstrip().startswith("#") else None
        if found is None:
            continue
        value = found["v"].strip().rstrip(",") if is_json else re.sub(r"\s#.*$", "", found["v"]).strip()
        if _SECRET.search(found["k"]) and _is_secret(f"{found['k']}: {value}"):
            continue
        if not value or value[0] in "{|>&*!" or value in ("[", "null") or (value[0] == "[" and not value.endswith("]")):
            continue
        number_here = literal(value)
        is_number = isinstance(number_here, (int, float)) and not isinstance(number_here, bool)
        is_text = is_number and not is_json and _NUMBER.match(value) is None
        yield RunValue(found["k"].rpartition(".")[2].replace("-", "_"), value, f"{file}:{number}", is_text)
