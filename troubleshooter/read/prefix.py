"""Removes what launchers, schedulers, containers and loggers put before a line, and keeps the rank or process that it
names.

A stream tells writers apart whose lines are mixed: it is a rank, worker, process or label. A time stamp names no
stream. To add a format, add it to `_FORMATS`.
"""

from __future__ import annotations

import re

from kb import lazy

_TIME = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|\s?[+-]\d\d:?\d\d)?"

_DIGITS, _LETTERS = "0123456789", "abcdefghijklmnopqrstuvwxyz"

# For each format: the characters that it may begin with, and its pattern, which `match` anchors at the start of the line. A group
# `rank…` is the number of a rank, `s…` another name of a stream. One blank after the prefix belongs to it; more are the indent.
_FORMATS = (
    ("[", r"\[(?:rank|Rank|RANK)\s?(?P<rank0>\d{1,5})\s?\]:?"),  # torch: [rank3]:
    ("[", r"\[default(?P<rank1>\d{1,4})\]:"),  # torchrun --tee
    ("[", r"\[(?P<s0>[A-Za-z_]\w{0,40}?)(?P<rank2>\d{1,4})\]:(?=\s|$)"),  # torchrun with another role: [trainer0]:
    (
        "[",
        r"\[\d{1,4},(?:mpirank:)?(?P<rank3>\d{1,5})(?:,[\w.-]{1,60})?\]<std(?:out|err)>:",
    ),  # mpirun --tag-output, SageMaker
    ("(", r"\((?P<s1>[A-Za-z_][\w.:<>\[\] ,=-]{0,80}? pid=\d+(?:, ip=[\w.:]+)?)\)"),  # Ray, vLLM, SkyPilot
    ("(", r"\((?P<s2>[A-Za-z_]\w{0,60} pid=\d+, ip=[\w.:]+)\)"),
    (_DIGITS, r"(?P<s6>\d{1,3}(?:\.\d{1,3}){3}):(?=\s|$)"),  # pdsh with addresses: 10.0.0.12:
    (" " + _DIGITS, r" {0,3}(?P<rank4>\d{1,4}):(?=\s|$)(?!\s*\d{1,2}:\d\d)"),  # srun --label, which pads
    ("s", r"(?P<s3>std(?:err|out)):(?=\s|$)"),
    (
        "wnhgimspr",
        r"(?P<s4>(?:worker|node|host|gpu|ip|master|slave|pod|rank)[\w.-]{0,60}?\d[\w.-]{0,40}):(?=\s|$)",
    ),  # pdsh: host188:
    (_LETTERS, r"(?P<s5>[a-z][\w.-]{0,60}[_-]\d{1,3})\s+\|"),  # docker compose
    (_DIGITS, r"\d{1,6}(?:\.\d{1,3})?s\s+(?:\|\s+)?\d{1,7}\s+(?:\|)?"),  # Kaggle: 168.5s | 231 |
    (
        "[" + _DIGITS,
        rf"\[?{_TIME}\]?(?:\s*[-|:](?=\s+(?:\[?[A-Z]{{4,8}}\b|[\w.]+ [-|:] )))?",
    ),  # 2025-06-12T09:14:07.381Z
    ("[" + _DIGITS, r"\[?\d\d/\d\d/\d{2,4} \d\d:\d\d:\d\d\]?(?:\s+-(?=\s+[A-Z]{4,8}\b))?"),  # 05/28/2023 17:18:09 -
    ("[", r"\[\d\d:\d\d:\d\d(?:[.,]\d+)?\]"),
    (
        "JFMASOND",
        r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s{1,2}\d{1,2} \d\d:\d\d:\d\d [\w.-]{1,64} [\w./-]{1,64}(?:\[\d+\])?:",
    ),
    ("s", r"std(?:err|out) [FP]"),  # containerd, after its time stamp
    ("│|", r"(?:│|\|)\s?(?=Traceback \(most|  File \")"),
    (">", r">(?:\s?>)*(?=\s)(?!>)"),  # quoted mail or issue text
)


def _by_start() -> dict[str, re.Pattern[str]]:
    """By the first character of a line: the formats that it may have. Few are compiled for one log (docs/decisions/0003)."""
    found: dict[tuple[str, ...], re.Pattern[str]] = {}
    by_start = {}
    for start in {character for starts, _ in _FORMATS for character in starts}:
        forms = tuple(form for starts, form in _FORMATS if start in starts)
        if forms not in found:
            found[forms] = lazy.compile(f"(?:{'|'.join(forms)})[ \\t]?")
        by_start[start] = found[forms]
    return by_start


_PREFIXES = _by_start()
_RANK_IN = lazy.compile(r"rank=(\d+)")
_LOCAL = ("rank1", "rank2")
"""Groups of `_FORMATS` that number a process within its node. If another prefix gives the rank within the whole run,
that one is used."""
_MAX_PREFIXES = 5
_WORDS = lazy.compile(r"[a-z][\w.-]{0,70}(?::|\s+\|)|std(?:out|err)")


def strip_prefix(text: str) -> tuple[str, str, int | None, bool]:
    """``(rest, stream, rank, stamped)`` of a line.

    The rest keeps its own indent. The stream is "" if no prefix names one. ``stamped``: whether a prefix is a time.
    """
    stream, rank, stamped = "", None, False
    local = True  # whether the rank is one of its node only
    for _ in range(_MAX_PREFIXES):
        prefix = _PREFIXES.get(text[:1])
        if prefix is None or (text[0] == " " and not text[1:4].lstrip(" ")[:1].isdigit()):
            break
        if text[0].isalpha() and text[0].islower() and not _WORDS.match(text):
            break
        found = prefix.match(text)
        if found is None or found.end() == 0:
            break
        name = found.lastgroup  # each format has one name at most
        if name is None:
            stamped = True
        elif name[:4] == "rank":
            if rank is None or (local and name not in _LOCAL):
                rank, local = int(found[name]), name in _LOCAL
        elif (value := found[name]) not in ("stderr", "stdout"):
            stream = f"{stream} {value}".strip()
            if rank is None and (inner := _RANK_IN.search(value)):
                rank, local = int(inner.group(1)), False
        text = text[found.end() :]
    if rank is not None:
        stream = f"{stream} rank {rank}".strip()
    return text, stream, rank, stamped
