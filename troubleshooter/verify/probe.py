"""The description of a probe, read as literals from the syntax tree of its file. The tool never imports a probe."""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from kb.errors import TroubleshootError
from kb.extensions import PROBES, installed
from kb.nearest import did_you_mean

__all__ = ["COMPANIONS", "FOLDER", "Options", "Probe", "ProbeProblem", "load", "names"]

FOLDER: Final = Path(__file__).resolve().parent.parent / "probes"
COMPANIONS: Final = tuple(sorted(path.name for path in FOLDER.glob("_[a-z]*.py")))
"""Files that are copied beside every probe."""

Options = dict[str, str | int | float | bool]
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")


class ProbeProblem(TroubleshootError, ValueError):
    """There is no such probe, or it does not take this ``with:`` value; the message says what was expected."""


@dataclass(frozen=True)
class Probe:
    """The description that a probe's file gives of the probe."""

    name: str
    path: Path
    question: str
    needs: tuple[str, ...]
    parameters: Mapping[str, list[str | int | bool] | str | Mapping[str, int]]
    pairs: tuple[tuple[Any, ...], ...]
    reproduce: str
    devices: tuple[str, ...]
    uses_model: bool
    settled_by: tuple[str, ...] | None
    """The values that a log must give before an answer is about that log's run (see `troubleshooter.probes`)."""
    loopback: bool
    shared_memory: bool
    sha256: str

    def settles(self, options: Options, from_log: Collection[str], model: bool) -> bool:
        """Whether an answer is about the run of the log itself, and not only about this kind of failure.

        ``from_log``: the options that the log filled in; ``model``: the user's own model was given.
        """
        if self.settled_by is None:
            return False
        for item in self.settled_by:
            name, fixed, value = item.partition("=")
            known = model if item == "--model" else str(options.get(name)) == value if fixed else name in from_log
            if not known:
                return False
        return True

    def options(self, given: Mapping[str, object]) -> Options:
        """The probe's parameters, checked, with defaults for what is not given."""
        for key in given:
            if key not in self.parameters:
                known = ", ".join(sorted(self.parameters)) or "none"
                near = did_you_mean(key, self.parameters)
                hint = f"; {near}" if near else ""
                raise ProbeProblem(f"probe `{self.name}` takes no `with: {key}` (it takes: {known}){hint}")
        chosen: Options = {}
        for key, allowed in self.parameters.items():
            if isinstance(allowed, Mapping):  # a whole number between bounds
                number = given.get(key, allowed["default"])
                least, most = allowed["least"], allowed["most"]
                if type(number) is not int or not least <= number <= most:
                    text = f"expected a whole number from {least} to {most}"
                    raise ProbeProblem(f"probe `{self.name}`, `with: {key}: {number}`: {text}")
                chosen[key] = number
            elif isinstance(allowed, list):
                value = given.get(key, allowed[0])
                if not any(value == one and type(value) is type(one) for one in allowed):
                    words = ", ".join(map(str, allowed))
                    raise ProbeProblem(f"probe `{self.name}`, `with: {key}: {value}`: expected one of {words}")
                chosen[key] = value  # type: ignore[assignment]
            elif key in given:
                value = given[key]
                if not isinstance(value, str) or not re.fullmatch(allowed, value):
                    raise ProbeProblem(f"probe `{self.name}`, `with: {key}: {value}`: expected text matching {allowed}")
                chosen[key] = value
        return chosen

    def shown(self, options: Options) -> str:
        """The lines a person can run by hand, with the parameters filled in."""
        text = self.reproduce.strip("\n")
        return re.sub(r"\{(\w+)\}", lambda found: str(options.get(found[1], found[0])), text) + "\n"


def names(folders: Sequence[Path] = ()) -> list[str]:
    """The probes that ship with the tool, those of installed packages and of the folders, as entries name them."""
    files = [path for folder in _folders(folders) for path in folder.glob("*.py")]
    return sorted({path.stem.replace("_", "-") for path in files if not path.name.startswith("_")})


def load(name: str, folders: Sequence[Path] = ()) -> Probe:
    """Read the probe of that name: a shipped one, one of an installed package, or one in the folders that the user named.

    A name is no path: nothing outside of these folders can be named. Raises `ProbeProblem` where no probe has the name, or
    two have it: an entry then could not say which of them it means.
    """
    file = name.replace("-", "_") + ".py"
    found = [folder / file for folder in _folders(folders) if (folder / file).is_file()] if _NAME.match(name) else []
    if not found:
        known = names(folders)
        hint = did_you_mean(name, known, "`troubleshoot verify` knows: " + ", ".join(known))
        raise ProbeProblem(f"no probe `{name}` is known; {hint}. A team's own probes are named by --probes")
    if len(found) > 1:
        raise ProbeProblem(f"two probes are called `{name}`: {found[0]} and {found[1]}; rename one of them")
    return _read_once(found[0])


def _folders(named: Sequence[Path]) -> list[Path]:
    """The folders with probes. Raises `ProbeProblem` for a named one that does not exist."""
    for folder in named:
        if not folder.is_dir():
            raise ProbeProblem(f"{folder}: no such folder of probes; expected files such as my_probe.py in it")
    found = [FOLDER, *(path for _, path in installed(PROBES)), *named]
    return [Path(path) for path in dict.fromkeys(os.path.realpath(folder) for folder in found)]


@lru_cache(maxsize=256)
def _read_once(path: Path) -> Probe:
    return read(path)


def read(path: Path) -> Probe:
    """Read a probe file (``load`` finds one by its name)."""
    source = path.read_bytes()
    literals: dict[str, object] = {}
    for statement in ast.parse(source, str(path)).body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and isinstance(target, ast.Name) and target.id in _LITERALS:
            literals[target.id] = ast.literal_eval(statement.value)
    missing = {"QUESTION", "NEEDS", "PARAMETERS", "SETTLED_BY"} - literals.keys()
    if missing:
        raise ProbeProblem(f"{path}: expected the literals {', '.join(sorted(missing))} at the top of a probe")
    return Probe(
        name=path.stem.replace("_", "-"),
        path=path,
        question=str(literals["QUESTION"]),
        needs=tuple(literals["NEEDS"]),  # type: ignore[arg-type]
        parameters=literals["PARAMETERS"],  # type: ignore[arg-type]
        pairs=tuple(literals.get("PAIRS", ())),  # type: ignore[arg-type]
        reproduce=str(literals.get("REPRODUCE", "")),
        devices=tuple(literals.get("DEVICES", ("cpu", "cuda"))),  # type: ignore[arg-type]
        uses_model=bool(literals.get("USES_MODEL", False)),
        loopback=bool(literals.get("LOOPBACK", False)),
        shared_memory=bool(literals.get("SHARED_MEMORY", False)),
        settled_by=None if literals["SETTLED_BY"] is None else tuple(literals["SETTLED_BY"]),  # type: ignore[arg-type]
        # What its answer is taken for does not change what a probe does: a record stays one of this probe.
        sha256=hashlib.sha256(re.sub(rb"(?m)^SETTLED_BY = .*\n", b"", source)).hexdigest(),
    )


_LITERALS: Final = frozenset(
    ("QUESTION", "NEEDS", "PARAMETERS", "SETTLED_BY", "PAIRS", "REPRODUCE", "DEVICES", "USES_MODEL", "LOOPBACK")
) | {"SHARED_MEMORY"}
