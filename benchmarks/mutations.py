"""Ways to break a log: each mutation takes the bytes of a log and returns changed ones. `benchmarks.fuzz` diagnoses the results."""

from __future__ import annotations

import base64
import codecs
import json
import random
import re
from collections.abc import Callable

Mutation = Callable[[bytes, random.Random, Callable[[], bytes]], bytes]
"""Takes a log, the source of all choices, and a function that returns another log; returns the changed log."""
LARGEST_BYTES = 200_000
"""Logs are cut to this size before they are changed."""

UNITS = (
    b" ", b"\t", b"a", b"A", b"0", b"_", b"-", b".", b"/", b"\\", b"=", b":", b"'", b'"', b"`", b"(", b")", b"[", b"]", b"{", b"}", b"<",
    b">", b"|", b"*", b"#", b"@", b"%", b"&", b",", b";", b"+", b"~", b"^", b"$", b"!", b"?", b"\r", b"\x1b[", b"\x00", b"\xff",
    b"\xc2\x9b", b"a.", b"a/", b"a ", b"A1_", b"0.", b"0x", b"1e5 ", b"a=1 ", b"a: 1 ", b"'a': 1, ", b"}{'", b"\\n", b"\\\"", b"[rank0]:",
    b"[rank", b"[default1]:", b"(a pid=1)", b"File \"", b"File \"a.py\", line 1, in f ", b"Traceback (most recent call last):",
    b"ValueError: ", b"Error", b"aError: ", b"Caused by: ", b"12%|", b"loss=1 ", b"loss ", b"Step\t", b"tensor(", b"np.float64(",
    b"nan ", b"torch 2.1 ", b"torch==", b"Tesla GeForce ", b"python3.1/", b"a@b:", b"\xe4\xb8\xad", b"\xe2\x94\x82 ", b"\xe2\x94\x80",
    b"\xe2\x80\x8b", b"&lt;", b"&#39;", b"iVBORw0KGgo", b"deadbeef", b"-dist-packages/", b"- ", b"* ", b"user@host:~/x ",
)  # fmt: skip
"""Texts that are repeated in a line."""
PLACES = (
    b"%s", b"loss %s", b"reward image=%s", b"'loss': %s", b"{'loss': 1.0, 'x': '%s'}", b'{"loss": 1.0, "x": "%s"}', b'{"log": "%s", "stream": "stderr"}',
    b"[rank1]: %s", b"[rank1]:[rank2]: %s", b"2025-06-12 09:14:07,123 INFO %s", b"(Worker pid=7) %s", b"1: %s", b"ValueError: %s",
    b"ValueError: x\n%s", b"Traceback (most recent call last):\n%s", b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n%s',
    b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    %s\nValueError: x', b'  File "%s", line 1, in f',
    b"---------\nValueError Traceback (most recent call last)\n%s", b"\xe2\x94\x82 %s \xe2\x94\x82", b"torch version %s", b"GPU %s", b"Step\tTraining Loss\n%s",
    b"wandb: %s", b"| %s |", b"  %s = 1", b"Exception has occurred: ValueError\n%s", b"%s: ValueError: x", b"exit code %s", b"Successfully installed %s",
)  # fmt: skip
"""Lines in which a text is repeated; ``%s`` is its place."""


def repeated(size: int, pick: random.Random) -> Callable[[int], bytes]:
    """A function that makes a line with one unit repeated at one place, of about ``size`` bytes times its argument."""
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


def _huge_numbers(data: bytes, pick: random.Random, other: Callable[[], bytes]) -> bytes:
    """Some numbers become ones that no size, line or counter has: of 19, 400 or 5,000 digits (Python reads at most 4,300)."""
    huge = pick.choice((b"7" * 5000, b"9" * 19, b"4" * 400, b"0" * 5000))
    left = [LARGEST_BYTES // len(huge)]

    def changed(found: re.Match[bytes]) -> bytes:
        if left[0] and pick.random() < 0.5:
            left[0] -= 1
            return huge
        return found[0]

    return re.sub(rb"\d+", changed, data)


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
    "huge numbers": _huge_numbers,
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
