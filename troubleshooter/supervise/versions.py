"""Find the Python that a command runs and the versions installed there. They are read from metadata; nothing is imported."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

ASK_SECONDS = 20.0
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?(?:\.exe)?$")
_LAUNCHERS = frozenset(("torchrun", "accelerate", "deepspeed", "jupyter", "llamafactory-cli", "axolotl", "tune", "trl"))
_SHEBANG = re.compile(rb"#!\s*(\S+)(?:\s+(\S+))?")


def interpreter_of_command(command: Sequence[str]) -> str | None:
    """The interpreter that the command starts; None if the command does not name it (a shell script)."""
    for word in command:
        name = os.path.basename(word)
        if _PYTHON.match(name):
            return shutil.which(word)
        if name in _LAUNCHERS:
            found = shutil.which(word)
            return _of_script(found) if found else None
    found = shutil.which(command[0])
    return _of_script(found) if found else None


def _of_script(path: str) -> str | None:
    """The Python that a script's first line names."""
    try:
        with Path(path).open("rb") as file:
            found = _SHEBANG.match(file.readline(512))
    except OSError:
        return None
    if found is None:
        return None
    first, second = os.fsdecode(found[1]), os.fsdecode(found[2] or b"")
    if os.path.basename(first) == "env":
        return shutil.which(second) if _PYTHON.match(second) else None
    return first if _PYTHON.match(os.path.basename(first)) else None


class Versions:
    """Asks an interpreter beside the run."""

    def __init__(self, interpreter: str | None) -> None:
        self.interpreter = interpreter
        self.found: Mapping[str, str] = {}
        self.is_known = interpreter is None
        self._thread = threading.Thread(target=self._ask, daemon=True)
        if interpreter is not None:
            self._thread.start()

    def _ask(self) -> None:
        from troubleshooter.verify.environment import EnvironmentProblem, ask

        assert self.interpreter is not None
        try:
            answer = ask(self.interpreter, timeout=ASK_SECONDS)
        except EnvironmentProblem:
            self.is_known = True
            return
        self.found = {"python": answer.version, **answer.versions}
        self.is_known = True

    def wait(self) -> Mapping[str, str]:
        """The versions by package; empty if the interpreter does not answer."""
        if self.interpreter is not None:
            self._thread.join(ASK_SECONDS)
        return self.found
