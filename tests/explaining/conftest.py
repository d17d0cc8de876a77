"""A small library that exists only as source files, and the logs of runs that it failed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import troubleshooter
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

LIBRARY = """
from dataclasses import dataclass, field
from gadget.base import Base

MODES = ("fast", "safe")


@dataclass
class GadgetConfig:
    steps: int = 8
    group: int = 4
    mode: str = "fast"
    pack: bool = False
    length: int | None = None

    def __post_init__(self):
        if self.steps % self.group != 0:
            raise ValueError(f"steps ({self.steps}) and group ({self.group}) do not go together")
        if self.mode not in MODES:
            raise ValueError(f"bad mode {self.mode}")


class Gadget(Base):
    def __init__(self, config: GadgetConfig, data=None, name="gadget", **extra):
        self.config = config
        self.data = data
        self.label = name
        self.colour = extra.pop("colour", None)

    def train(self, resume=None):
        if self.config.pack:
            if self.config.length is None:
                raise ValueError("packing is impossible as it is")
        rows = self.data
        if rows is None:
            raise ValueError("nothing to learn from")
        self._check(resume)

    def _check(self, checkpoint):
        if not isinstance(checkpoint, str):
            raise TypeError(f"cannot resume from {type(checkpoint).__name__}")

    def paint(self):
        if self.colour == "red":
            raise ValueError("no paint left")

    def weigh(self):
        assert self.limit > 0, "too heavy"

    def resize(self, size=None, depth=None):
        if size is not None and size <= 0:
            raise ValueError(f"no such size: {size}")
        if not (size is None) ^ (depth is None):
            raise ValueError("size or depth, one of both")

    def name_it(self, title):
        if "." in title:
            raise KeyError("a title without points, please")

    def choose(self, parts, wholes):
        if not parts.issubset(wholes):
            raise ValueError("parts are not parts of wholes")

    def weigh_words(self, words):
        if any(not isinstance(one, list) for one in words):
            raise ValueError("words have to be lists of lists")

    def share(self, lengths, total):
        if sum(lengths) != total:
            raise ValueError("lengths do not add up")

    def blocks(self, width, size, count):
        if size == 0:
            size = width // count
        elif size < 0 or width % size != 0:
            raise ValueError(f"width ({width}) must be a multiple of size ({size})")

    def inner(self, part):
        if part is None:
            raise ValueError("no part of this kind")

    def outer(self, kind):
        part = self.find(kind)
        self.inner(part)

    def store(self, path):
        if os.path.isfile(path):
            raise ValueError(f"{path} is a file")

    def __getitem__(self, key):
        if key not in self.parts:
            raise KeyError(f"no part {key}")


    def warm(self, heat=None):
        if not isinstance(heat, float) or not heat > 0:
            raise ValueError(f"heat (={heat}) has to be a strictly positive float")

    def cut(self, share):
        if isinstance(share, int) and (share >= 4 or share <= 0) or isinstance(share, float) and (share <= 0 or share >= 1):
            raise ValueError(f"a share of {share} cannot be cut")

    def merge(self, weights, safe=False):
        if safe:
            if not weights.all():
                raise ValueError("the weights are broken")

    def fetch(self, name, offline=False):
        if not offline:
            try:
                name.load()
            except OSError:
                raise ValueError("it could not be fetched")

    def both(self, new=None, old=None):
        if new is not None and old is not None:
            raise ValueError("Pass only `new_form`; `old` is deprecated")

    def log_to(self, board=None):
        if board is not None and not self.ready:
            raise ValueError("No board is available. To install it run `pip install boards[all]`")

    def optional(self, plan=None):
        if plan is not None and not isinstance(plan, Plan):
            raise ValueError("a plan it must be")

    def exclude(self, plan=None):
        if plan is not None and self.packed.any():
            raise ValueError("packing cannot be used with a plan")

    def columns(self, names):
        seen = set()
        for name in names:
            if name in seen:
                raise ValueError(f"twice the column {name}")
            seen.add(name)

    def either(self, low=None, high=None):
        if (low is None) != (high is None):
            raise ValueError("both or none of them")

    def pick(self, speed):
        if speed not in ("slow_a", "slow_b", "quick"):
            raise ValueError(f"no such speed: {speed}")

    def lift(self, load=None):
        if load is None:
            raise ValueError("a load is needed")
        if load == 9:
            raise ValueError("nine is too much for `load`")

    def turn(self, way="left"):
        if way == "left":
            self.left()
        elif way == "right":
            self.right()
        else:
            raise ValueError(f"no such way: {way}")

    def group(self, size, count):
        if size > 1 and size % count != 0:
            raise ValueError("size must be a multiple of count")

    def rank(self, r=8):
        if r <= 0:
            raise ValueError("r has to be positive")

    def unknown(self, kind):
        if kind is None or isinstance(kind, Missing):
            self.wind()


@dataclass
class GaugeConfig:
    marks: int = 8
    every: int | None = None
    least: int | None = None

    def __post_init__(self):
        if self.least is None:
            self.least = int(os.environ.get("GAUGE_LEAST", "1"))
        if self.least < 1:
            raise ValueError("least is too small")
        self.marks = int(self.marks)
        self.every = int(self.every)
        if self.marks % self.every != 0:
            raise ValueError("marks do not go together with every")


def passing_on(func):
    def wrapper(*args, **kwargs):
        owner, args = args[0], args[1:]
        return func(owner, *args, **kwargs)
    return wrapper
"""
BASE = """
class Base:
    def configure(self, limit):
        self.limit = limit
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The folder of an environment's packages, with the package ``gadget`` in it."""
    package = tmp_path / "site-packages" / "gadget"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "core.py").write_text(LIBRARY, encoding="utf-8")
    (package / "base.py").write_text(BASE, encoding="utf-8")
    return package.parent


@pytest.fixture
def explained(site: Path) -> Callable[..., Report]:
    """The report on a failure in the library: ``explained(own_line, [(text, function), …], message)``.

    ``text``: a part of a line of the library, which the traceback shows.
    """
    lines = LIBRARY.splitlines()

    def report(own: str, frames: list[tuple[str, str]], message: str, *, lang: str = "en") -> Report:
        log = ["Traceback (most recent call last):", '  File "/home/me/train.py", line 7, in <module>', f"    {own}"]
        for text, function in frames:
            number = next(n for n, line in enumerate(lines, 1) if text in line)
            log += [
                f'  File "/opt/venv/lib/python3.11/site-packages/gadget/core.py", line {number}, in {function}',
                f"    {lines[number - 1].strip()}",
            ]
        made = Diagnoser.of([], folders=[str(site)])
        return made.diagnose("\n".join([*log, message]) + "\n", lang=lang)

    assert troubleshooter.diagnose
    return report


@pytest.fixture
def of_run(tmp_path: Path) -> Callable[..., Report]:
    """The report on a program that was run: ``of_run(library, program)``; the program imports ``widget``, the library.

    ``command``: what the log shows above the traceback. ``files``: more files beside the program.
    """

    def report(
        library: str, program: str, *, command: str = "", below: str = "", files: Mapping[str, str] | None = None
    ) -> Report:
        package = tmp_path / "site-packages" / "widget"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text("from widget.core import *\n", encoding="utf-8")
        (package / "core.py").write_text(library, encoding="utf-8")
        for name, text in {**(files or {}), "train.py": program}.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        words = command.rpartition("train.py ")[2].split() if "train.py " in command else []
        run = [sys.executable, "-I", "-c", _RUN, str(package.parent), str(tmp_path / "train.py"), *words]
        ended = subprocess.run(run, capture_output=True, text=True, check=False)
        assert ended.returncode == 1, ended.stderr
        log = f"{command}\n{ended.stderr}{below}\n" if command else f"{ended.stderr}{below}\n"
        return Diagnoser.of([]).diagnose(log)

    return report


_RUN = """
import sys
site, path, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = path
sys.path.insert(0, site)
exec(compile(open(path).read(), path, "exec"), {"__name__": "__main__"})
"""
