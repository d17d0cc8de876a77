"""Diagnose thousands of broken logs: ``python -m benchmarks.fuzz [--seconds 60] [--seed 1] [--first N --count M] [--keep FOLDER]``.

Samples of the entries, healthy logs and (where they are at hand) recorded runs are mutated, and each result is diagnosed. What
must hold for every input:

* ``exception``: nothing is raised but `Unreadable`;
* ``again``: the same input gives the same report, also after other logs were read;
* ``chunks``: pieces of odd sizes give the report of the whole; ``file``: so does a file;
* ``json``: the report is one line of strict JSON (UTF-8, no NaN), without characters that act on a terminal;
* ``raw``: no such character of the log reaches the terminal, Markdown or HTML;
* ``time``: CPU seconds stay below a bound per MiB, and four times the text takes no more than `GROWTH` times as long.

Times are CPU times, and a slow input counts only if the least of several measurements is slow. An execution is told by the seed and its number, so
that it can be repeated. Exit status: 0 when all held, 1 when something did not, 2 when there are no seeds.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

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
"""CPU seconds that an input may take: so many, and so many more for each MiB."""
GROWTH, NOTABLE_SECONDS = 9.0, 0.25
"""How many times as long four times a text may take (4 is linear), if that is so many seconds."""
KEPT = 40
"""Inputs that are diagnosed again later."""
LARGEST_BYTES = 200_000

Mutation = Callable[[bytes, random.Random, Callable[[], bytes]], bytes]


def seeds(lab: Path) -> list[Path]:
    """The logs to begin with, in a fixed order."""
    found = list((ROOT / "entries").glob("*/*/samples.log"))
    found += [*(ROOT / "tests" / "healthy").rglob("*.log"), *(ROOT / "tests" / "logs").glob("*.log"), *lab.rglob("*.log")]
    return sorted(path for path in found if path.is_file() and path.stat().st_size)


# --- mutations ---

UNITS = (
    b" ", b"\t", b"a", b"A", b"0", b"_", b"-", b".", b"/", b"\\", b"=", b":", b"'", b'"', b"`", b"(", b")", b"[", b"]", b"{", b"}", b"<",
    b">", b"|", b"*", b"#", b"@", b"%", b"&", b",", b";", b"+", b"~", b"^", b"$", b"!", b"?", b"\r", b"\x1b[", b"\x00", b"\xff",
    b"\xc2\x9b", b"a.", b"a/", b"a ", b"A1_", b"0.", b"0x", b"1e5 ", b"a=1 ", b"a: 1 ", b"'a': 1, ", b"}{'", b"\\n", b"\\\"", b"[rank0]:",
    b"[rank", b"[default1]:", b"(a pid=1)", b"File \"", b"File \"a.py\", line 1, in f ", b"Traceback (most recent call last):",
    b"ValueError: ", b"Error", b"aError: ", b"Caused by: ", b"12%|", b"loss=1 ", b"loss ", b"Step\t", b"tensor(", b"np.float64(",
    b"nan ", b"torch 2.1 ", b"torch==", b"Tesla GeForce ", b"python3.1/", b"a@b:", b"\xe4\xb8\xad", b"\xe2\x94\x82 ", b"\xe2\x94\x80",
    b"\xe2\x80\x8b", b"&lt;", b"&#39;", b"iVBORw0KGgo", b"deadbeef", b"-dist-packages/", b"- ", b"* ", b"user@host:~/x ",
)  # fmt: skip
"""What is repeated in a line."""
PLACES = (
    b"%s", b"loss %s", b"reward image=%s", b"'loss': %s", b"{'loss': 1.0, 'x': '%s'}", b'{"loss": 1.0, "x": "%s"}', b'{"log": "%s", "stream": "stderr"}',
    b"[rank1]: %s", b"[rank1]:[rank2]: %s", b"2025-06-12 09:14:07,123 INFO %s", b"(Worker pid=7) %s", b"1: %s", b"ValueError: %s",
    b"ValueError: x\n%s", b"Traceback (most recent call last):\n%s", b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n%s',
    b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    %s\nValueError: x', b'  File "%s", line 1, in f',
    b"---------\nValueError Traceback (most recent call last)\n%s", b"\xe2\x94\x82 %s \xe2\x94\x82", b"torch version %s", b"GPU %s", b"Step\tTraining Loss\n%s",
    b"wandb: %s", b"| %s |", b"  %s = 1", b"Exception has occurred: ValueError\n%s", b"%s: ValueError: x", b"exit code %s", b"Successfully installed %s",
)  # fmt: skip
"""Where it stands."""


def repeated(size: int, pick: random.Random) -> Callable[[int], bytes]:
    """A text of one repeated unit at one place of a line, of about ``size`` bytes times what it is given."""
    unit, place = pick.choice(UNITS), pick.choice(PLACES)
    end = pick.choice((b"", b"x", b" =", b"\x00", b"!"))
    return lambda times: place.replace(b"%s", unit * (size * times // len(unit)) + end) + b"\n"


def _lines(change: Callable[[list[bytes], random.Random], list[bytes]]) -> Mutation:
    def mutated(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
        return b"\n".join(change(data.split(b"\n"), pick))

    return mutated


def _each(change: Callable[[bytes, random.Random, int], bytes]) -> Mutation:
    return _lines(lambda lines, pick: [change(line, pick, number) for number, line in enumerate(lines)])


def _cut(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    low, high = sorted((pick.randrange(len(data) + 1), pick.randrange(len(data) + 1)))
    return data[low:high]


def _flip(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    out = bytearray(data)
    for _ in range(pick.randint(1, 30)):
        if out:
            out[pick.randrange(len(out))] = pick.randrange(256)
    return bytes(out)


def _insert(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    at = pick.randrange(len(data) + 1)
    return data[:at] + pick.choice(UNITS) * pick.choice((1, 2, 9, 300)) + data[at:]


def _splice(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    second = other()
    return data[: pick.randrange(len(data) + 1)] + second[pick.randrange(len(second) + 1) :]


def _interleaved(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    streams = [data.split(b"\n"), other().split(b"\n")]
    out = []
    while any(streams):
        rank = pick.choice([n for n, lines in enumerate(streams) if lines])
        out.append(b"[rank%d]: %s" % (rank, streams[rank].pop(0)))
    return b"\n".join(out)


def _mixed(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    text = data.decode("utf-8", "replace")
    at = pick.randrange(len(text) + 1)
    return text[:at].encode(pick.choice(("utf-16-le", "gbk", "utf-8", "latin-1")), "replace") + text[at:].encode(
        pick.choice(("utf-16-le", "utf-16-be", "gbk", "utf-8")), "replace"
    )


def _encoded(name: str, mark: bytes = b"") -> Mutation:
    return lambda data, pick, other: mark + data.decode("utf-8", "replace").encode(name, "replace")


def _notebook_like(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    return json.dumps({"log": data.decode("utf-8", "replace"), "stream": "stderr", "time": "1"}).encode()


MUTATIONS: dict[str, Mutation] = {
    "as it is": lambda data, pick, other: data,
    "cut": _cut,
    "flip": _flip,
    "insert": _insert,
    "splice": _splice,
    "concatenate": lambda data, pick, other: data + other() + other(),
    "interleave": _interleaved,
    "drop lines": _lines(lambda lines, pick: [line for line in lines if pick.random() > 0.2]),
    "double lines": _lines(lambda lines, pick: [line for line in lines for _ in range(1 + (pick.random() < 0.2))]),
    "shuffle lines": _lines(lambda lines, pick: pick.sample(lines, len(lines))),
    "many times": lambda data, pick, other: (data + b"\n") * pick.randint(2, 1 + max(1, min(200, LARGEST_BYTES // (len(data) + 1)))),
    "one line": lambda data, pick, other: data.replace(b"\n", pick.choice((b" ", b"", b"\\n", b"\r"))),
    "break lines": _each(lambda line, pick, n: line if pick.random() > 0.2 else line[: len(line) // 2] + b"\n" + line[len(line) // 2 :]),
    "rank prefixes": _each(lambda line, pick, n: b"[rank%d]: %s" % (pick.randrange(3), line)),
    "two prefixes": _each(lambda line, pick, n: b"[default%d]:[rank%d]:%s" % (n % 3, n % 12, line)),
    "stamps": _each(lambda line, pick, n: b"2025-06-12T09:%02d:07.%03dZ %s" % (n % 60, n % 1000, line)),
    "numbers": _each(lambda line, pick, n: b"%d: %s" % (n + 1, line)),
    "other digits": lambda data, pick, other: bytes(pick.choice(b"0123456789") if 48 <= b <= 57 else b for b in data),
    "colours": _each(lambda line, pick, n: b"\x1b[3%dm%s\x1b[0m" % (n % 8, line)),
    "controls": lambda data, pick, other: b"".join(
        bytes((b,)) + (pick.choice((b"\x07", b"\x1b]0;x\x07", b"\xc2\x9b31m", b"\xe2\x80\xae", b"\x00", b"\x08")) if pick.random() < 0.02 else b"")
        for b in data
    ),
    "carriage returns": lambda data, pick, other: data.replace(b"\n", pick.choice((b"\r\n", b"\r", b"\r\r\n"))),
    "bars": _each(lambda line, pick, n: b"%3d%%|##  | %d/99 [00:01<00:09,  1.2it/s]\r%s" % (n % 100, n, line)),
    "indent": _each(lambda line, pick, n: b"    " + line),
    "quoted": _each(lambda line, pick, n: b"> " + line),
    "box": _each(lambda line, pick, n: b"\xe2\x94\x82 %s \xe2\x94\x82" % line.ljust(100)),
    "html": lambda data, pick, other: data.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b"'", b"&#39;").replace(b'"', b"&quot;"),
    "record of json": _notebook_like,
    "base64 beside": lambda data, pick, other: data + b"\nreward image=" + base64.b64encode(pick.randbytes(pick.choice((99, 9999, 60_000)))),
    "nan": lambda data, pick, other: data.replace(b"0.", pick.choice((b"nan", b"inf", b"1e999", b"-0."))),
    "utf-16": _encoded("utf-16-le", codecs.BOM_UTF16_LE),
    "utf-16 without a mark": _encoded("utf-16-le"),
    "utf-8 mark": _encoded("utf-8", codecs.BOM_UTF8),
    "gbk": _encoded("gbk"),
    "mixed encodings": _mixed,
    "random bytes": lambda data, pick, other: pick.randbytes(pick.choice((1, 9, 99, 5000))) + data,
    "repeated": lambda data, pick, other: data[:200] + b"\n" + repeated(pick.choice((500, 6000, 66_000)), pick)(1) + data[-200:],
}  # fmt: skip


def made(number: int, seed: str, paths: list[Path]) -> tuple[str, bytes, random.Random]:
    """The input of one execution: how it was made, its bytes, and the choices that follow."""
    pick = random.Random(f"{seed}-{number}")

    def other() -> bytes:
        return pick.choice(paths).read_bytes()[:LARGEST_BYTES]

    path = pick.choice(paths)
    data = path.read_bytes()[:LARGEST_BYTES]
    names = pick.choices(list(MUTATIONS), k=pick.choice((1, 1, 2, 3)))
    for name in names:
        data = MUTATIONS[name](data, pick, other)[: 2 * LARGEST_BYTES]
    return f"{path.name}: {', '.join(names)}", data, pick


# --- properties ---


class Broken(Exception):
    """A property that does not hold, and how that shows."""

    def __init__(self, name: str, shown: str) -> None:
        super().__init__(f"{name}: {shown}")
        self.name = name


class Fuzz:
    def __init__(self, tool: Diagnoser, folder: Path) -> None:
        self.tool = tool
        self.folder = folder
        self.kept: list[tuple[bytes, str]] = []
        self.slowest = 0.0
        """CPU seconds for each MiB, of inputs above 50 kB."""

    def check(self, number: int, data: bytes, pick: random.Random) -> None:
        """All properties on one input. Raises `Broken`."""
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
            os.utime(path, (0, 0))  # of a file that is still being written the report says so
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
        """One unit at one place of a line, then four times as many."""
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
            if at > 5000:
                size *= 50


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
