"""Diagnose thousands of broken logs: ``python -m benchmarks.fuzz [--seconds 60] [--seed 1] [--first N --count M] [--keep FOLDER]``.

Samples of the entries, healthy logs and (where they are at hand) recorded runs are mutated, and each result is diagnosed. What
must hold for every input:

* ``exception``: nothing is raised but `Unreadable`;
* ``again``: the same input gives the same report, also after other logs were read;
* ``chunks``: pieces of odd sizes give the report of the whole; ``file``: so does a file;
* ``json``: the report is one line of strict JSON (UTF-8, no NaN), without characters that act on a terminal;
* ``raw``: no such character of the log reaches the terminal, Markdown or HTML;
* ``time``: CPU seconds stay below a bound per MiB, and four times the text takes no more than `GROWTH` times as long.

Times are CPU times, and a slow input counts only if the fastest of several measurements is slow. The seed and the number of an
execution repeat it. Exit status: 0 if everything held, 1 if something did not, 2 if there are no logs to begin with.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutations import LARGEST_BYTES, MUTATIONS, repeated
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, Unreadable, decoded, from_path, from_text
from troubleshooter.report.fill import UNSAFE
from troubleshooter.report.html import html
from troubleshooter.report.jsontext import as_json
from troubleshooter.report.markdown import markdown
from troubleshooter.report.model import Report
from troubleshooter.report.terminal import show

ROOT = Path(__file__).parent.parent
LAB = ROOT.parent / "shared" / "lab"
SECONDS, SECONDS_A_MIB = 1.0, 12.0
"""An input may take this many CPU seconds, and this many more for each MiB."""
GROWTH, NOTABLE_SECONDS = 9.0, 0.25
"""Four times a text may take at most `GROWTH` times as long (4 is linear). Times below `NOTABLE_SECONDS` are not compared."""
KEPT = 40
"""This many earlier inputs are kept, and diagnosed again later."""


def seeds(lab: Path) -> list[Path]:
    """The logs to begin with, in a fixed order."""
    found = list((ROOT / "entries").glob("*/*/samples.log"))
    found += [*(ROOT / "tests" / "healthy").rglob("*.log"), *(ROOT / "tests" / "logs").glob("*.log"), *lab.rglob("*.log")]
    return sorted(path for path in found if path.is_file() and path.stat().st_size)


def made(number: int, seed: str, paths: list[Path]) -> tuple[str, bytes, random.Random]:
    """The input of one execution: how it was made, its bytes, and the source of the choices that follow."""
    pick = random.Random(f"{seed}-{number}")

    def other() -> bytes:
        return pick.choice(paths).read_bytes()[:LARGEST_BYTES]

    path = pick.choice(paths)
    data = path.read_bytes()[:LARGEST_BYTES]
    names = pick.choices(list(MUTATIONS), k=pick.choice((1, 1, 2, 3)))
    for name in names:
        data = MUTATIONS[name](data, pick, other)[: 2 * LARGEST_BYTES]
    return f"{path.name}: {', '.join(names)}", data, pick


class Broken(Exception):
    """A property does not hold: its name, and what shows that."""

    def __init__(self, name: str, shown: str) -> None:
        super().__init__(f"{name}: {shown}")
        self.name = name


class Fuzz:
    """Checks the properties on one input after another."""

    def __init__(self, tool: Diagnoser, folder: Path) -> None:
        self.tool = tool
        self.folder = folder
        self.kept: list[tuple[bytes, str]] = []
        self.slowest = 0.0
        """CPU seconds for each MiB, of inputs above 50 kB."""

    def check(self, number: int, data: bytes, pick: random.Random) -> None:
        """Check all properties on one input. Raises `Broken`."""
        start = time.process_time()
        report = self.report([from_text(data)])
        seconds = time.process_time() - start
        self.time(data, seconds)
        said = self.json(report)
        self.differ("again", said, self.json(self.report([from_text(data)])))
        sizes = [pick.choice((1, 2, 3, 5, 17, 333, 4095, 4096, 65_537)) for _ in range(8)]
        self.differ("chunks", said, self.json(self.report([Source("text", lambda: decoded(_pieces(data, sizes)))])))
        if number % 3 == 0:
            path = self.folder / "input.log"
            path.write_bytes(data)
            os.utime(path, (0, 0))  # an old file: the report of a file that was just written says so
            self.differ("file", said, self.json(self.report(from_path(path))).replace(json.dumps(str(path))[1:-1], "text"))
        if number % 2 == 0:
            self.raw(report)
        if number % 10 == 0:
            self.growth(pick)
        if len(self.kept) < KEPT:
            self.kept.append((data, said))
        else:
            at = pick.randrange(KEPT)
            before, then = self.kept[at]
            self.kept[at] = data, said
            self.differ("again", then, self.json(self.report([from_text(before)])), before)

    def report(self, sources: list[Source]) -> Report:
        try:
            return self.tool.report(sources, lang="en")
        except Unreadable:
            raise
        except Exception as error:
            raise Broken("exception", f"{type(error).__name__}: {error}") from error

    def json(self, report: Report) -> str:
        try:
            text = as_json(report.to_dict())
            text.encode("utf-8")
            json.loads(text, parse_constant=_refused)
        except (ValueError, UnicodeError) as error:
            raise Broken("json", str(error)) from error
        if not text.isprintable() and (found := UNSAFE.search(text)):
            raise Broken("json", f"raw {found.group()!r}")
        return text

    def differ(self, name: str, first: str, second: str, data: bytes = b"") -> None:
        if first != second:
            at = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
            shown = f"…{first[max(0, at - 60) : at + 60]}… / …{second[max(0, at - 60) : at + 60]}…"
            if data:
                (self.folder / "before.log").write_bytes(data)
                shown += f" (an earlier input: {self.folder / 'before.log'})"
            raise Broken(name, shown)

    def raw(self, report: Report) -> None:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                show(report, several=False, first=True)
            shown = {"terminal": out.getvalue(), "markdown": markdown(report), "html": html(report)}
        except Exception as error:
            raise Broken("exception", f"rendering: {type(error).__name__}: {error}") from error
        for name, text in shown.items():
            if found := UNSAFE.search(text.replace("\n", "").replace("\t", "")):
                at = text.index(found.group())
                raise Broken("raw", f"{name}: {found.group()!r} in {text[max(0, at - 40) : at + 40]!r}")

    def time(self, data: bytes, seconds: float) -> None:
        allowed = SECONDS + SECONDS_A_MIB * len(data) / (1 << 20)
        if seconds > allowed:
            seconds = min(self.seconds(data) for _ in range(3))
            if seconds > allowed:
                raise Broken("time", f"{seconds:.2f} CPU seconds for {len(data)} bytes")
        if len(data) > 50_000:
            self.slowest = max(self.slowest, seconds * (1 << 20) / len(data))

    def seconds(self, data: bytes) -> float:
        start = time.process_time()
        self.report([from_text(data)])
        return time.process_time() - start

    def growth(self, pick: random.Random) -> None:
        """Time one unit that is repeated at one place of a line, then four times as many."""
        text = repeated(12_000, pick)
        if self.seconds(text(4)) < NOTABLE_SECONDS:
            return
        short, long = (min(self.seconds(text(times)) for _ in range(3)) for times in (1, 4))
        if long > NOTABLE_SECONDS and long > GROWTH * short:
            raise Broken("time", f"{short:.3f} s, of four times the text {long:.3f} s: {text(1)[:120]!r}…")


def _refused(name: str) -> float:
    raise ValueError(f"JSON has no {name}")


def _pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        for size in sizes:
            yield data[at : at + size]
            at += size


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (default 60)")
    parser.add_argument("--seed", default="1", help="what the choices are made from (default 1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first execution")
    parser.add_argument("--count", type=int, default=0, help="executions at most; 0: no bound but the time")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that broke something")
    parser.add_argument("--lab", type=Path, default=LAB, help="a folder of recorded runs")
    asked = parser.parse_args(arguments)
    paths = seeds(asked.lab)
    if not paths:
        print("no logs to begin with; run it from a checkout", file=sys.stderr)
        return 2
    if asked.keep is not None:
        asked.keep.mkdir(parents=True, exist_ok=True)
    broken: Counter[str] = Counter()
    number, size = asked.first, 0
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Diagnoser.load(), Path(folder))
        start = time.monotonic()
        while time.monotonic() - start < asked.seconds and (not asked.count or number < asked.first + asked.count):
            how, data, pick = made(number, asked.seed, paths)
            size += len(data)
            try:
                fuzz.check(number, data, pick)
            except (Broken, Unreadable) as error:
                name = error.name if isinstance(error, Broken) else "unreadable"
                broken[name] += 1
                print(f"{error}\n  {how}, {len(data)} bytes", flush=True)
                print(f"  again: python -m benchmarks.fuzz --seed {asked.seed} --first {number} --count 1", flush=True)
                if asked.keep is not None:
                    (asked.keep / f"{name}-{asked.seed}-{number}.log").write_bytes(data)
            number += 1
        seconds = time.monotonic() - start
    done = number - asked.first
    print(
        f"{done} executions from {len(paths)} logs with {len(MUTATIONS)} mutations, {size / 1e6:.1f} MB, {done / seconds:.1f} a second,"
        f" seed {asked.seed}; slowest {fuzz.slowest:.2f} CPU seconds a MiB; broken: {dict(broken) or 'nothing'}"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
