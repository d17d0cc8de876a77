"""What a message states of one argument: a bound, the only value that is supported, its shape, a case in which it is left out, or that another needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kb import lazy
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal

_VALUE = r"""(-?\d[\w.]*|True|False|None|"[^"\n]{1,60}"|'[^'\n]{1,60}')"""
_BOUND = lazy.compile(
    r"(?<!\w)[`'\"]?(\w{2,60})[`'\"]? (?:must|should|has to|needs to) be (?:strictly )?(?P<less>less|smaller|lower|shorter)?"
    r"(?:greater|larger|bigger|higher|longer)? than (?P<e>or equal to )?[`'\"]?\w{1,60} ?= ?(-?\d[\d.]*)"
)
_ONLY = lazy.compile(
    r"\bonly (?:supported|implemented|available|possible|works?|allowed)(?: \w+)? (?:for|with|when|if) [`'\"]?(\w{2,60})[`'\"]?(?: is)? ?={0,2} ?"
    + _VALUE
)
_LEFT_OUT = lazy.compile(
    r"[`'\"]{0,2}(\w{2,60})[`'\"]{0,2} (?:must|should|can) ?(?:NOT|not) be (?:specified|passed|given|set|provided) (?P<case>(?:on|in|for|when|if|with|while) [^.\n]{3,80})"
)
_SHAPE = lazy.compile(
    r"(?i)\b(?:shape|size) of (?:the )?(?:\w+ )?[`'\"]?(\w{2,60})[`'\"]? is (?:torch\.Size)?[\[(]{1,2}([\d, ]{1,80})[\])]{1,2},? but (?:it )?(?:should|must|has to) be (?:torch\.Size)?[\[(]{1,2}([\d, ]{1,80})[\])]{1,2}"
)

_NEEDS = lazy.compile(
    r"\brequires? (?:the )?[`'\"](\w{2,60})[`'\"](?: \w{1,20})? to be (?:set|passed|given|provided|specified)\b"
)
"""What an argument needs beside it."""


def stated(message: str, passed: Mapping[str, str]) -> Iterator[Remedy]:
    """Suggestions for the arguments of the user's own calls. ``passed``: their names, with what is passed as source."""
    if " than " in message:
        for found in _BOUND.finditer(message):
            sign = ("<" if found["less"] else ">") + ("=" if found["e"] else "")
            if found[1] in passed:
                needed = f"{found[1]} {sign} {found[4]}"
                yield Remedy("do-pair", (("x", found[1]), ("y", needed)), f"{found[1]}=...", "message")
    if "only " in message:
        for found in _ONLY.finditer(message):
            if literal(found[2]) is not UNKNOWN:
                yield Remedy("do-set", (("x", found[1]), ("y", found[2])), f"{found[1]}={found[2]}", "message")
    if " be " in message:
        for found in _LEFT_OUT.finditer(message):
            if found[1] in passed:
                values = (("x", found[1]), ("y", found["case"].strip()))
                yield Remedy("do-leave-case", values, f"{found[1]}=None", "message")
    if "require" in message:
        for found in _NEEDS.finditer(message):
            if found[1] not in passed and not found[1].isupper():  # in capitals it is a variable of the environment
                yield Remedy("do-pass", (("x", found[1]),), f"{found[1]}=...", "message")
    for found in _SHAPE.finditer(message) if "but " in message else ():
        if found[1] in passed:
            yield _shaped(passed[found[1]], found[1], _sizes(found[2]), _sizes(found[3]))


def _sizes(text: str) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", text)]


def _shaped(given: str, name: str, there: list[int], wanted: list[int]) -> Remedy:
    """The value repeated along one dimension, where that gives the shape; else only the shape."""
    other = [n for n, (a, b) in enumerate(zip(there, wanted, strict=False)) if a != b]
    if len(there) == len(wanted) and len(other) == 1:
        [dim] = other
        times, rest = divmod(wanted[dim], max(1, there[dim]))
        if times > 1 and not rest:
            code = f"{given}.repeat_interleave({times}, dim={dim})"
            return Remedy("do-repeat", (("x", code),), code, "message")
    shape = f"({', '.join(map(str, wanted))})"
    return Remedy("do-shape", (("x", name), ("y", shape)), f"{name}=...", "message")
