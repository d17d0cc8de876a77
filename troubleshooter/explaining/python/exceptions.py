"""Python's own exceptions, explained by the line that raised them: what it asked for, and which operand can be at fault."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.python import python_errors
from troubleshooter.explaining.python.calling import LineAnswer, LineFunction
from troubleshooter.explaining.python.python_errors import LineRule
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.shown import code, is_cut, marked, parsed
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

LAST_FRAMES = 30
"""A recursion without end is seen in this many frames: Python shows the first three rounds of what it repeats."""
SHOWN_FUNCTIONS = 4
LONG = 120
"""Characters of a line in a sentence."""


def explain(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation of an exception that Python itself raised in a line of the user's; None where no rule fits.

    A call that does not fit its function is explained without a frame, too: its message names both.
    """
    mine = (*python_errors.CALLS, *python_errors.OPERANDS, *python_errors.OWN)
    rules = mine if _is_mine(failure) else python_errors.CALLS
    return _by_rules(failure, rules, lang) or _recursion(failure, lang)


def explain_raised(failure: Failure, lang: str) -> FoundPlace | None:
    """That the user's own line raised it. This is all that can be told where neither a source nor the index has the line."""
    found = _by_rules(failure, python_errors.RAISED, lang) if _is_mine(failure) else None
    if found is not None:
        frame = failure.frames[-1]
        place = file_line(frame.path, frame.line)
        found.remedies.append(Remedy("own-read", (("x", place),), None, "rule"))
    return found


def explain_line(failure: Failure, lang: str) -> FoundPlace | None:
    """The same for a line of a library whose source is not here: the log shows the line. Nothing is suggested for it."""
    found = _by_rules(failure, python_errors.OPERANDS, lang) if failure.frames else None
    if found is not None:
        found.remedies = []
    return found


def _whole_check(told: LineAnswer, line: str) -> LineAnswer | None:
    """What is told of a check whose line the log shows whole, or only its beginning."""
    if told.values["said"] or not is_cut(line):
        return told
    start = line.removeprefix("assert").strip(" \\")
    return LineAnswer("own-assert-cut", {"x": start[:LONG]}, told.names) if told.names else None


def _with_whole_line(told: LineAnswer, found: re.Match[str], rule: LineFunction, line: str) -> LineAnswer:
    """What is told of the marked part, with what the whole line shows to do: the marks leave the brackets of a call out."""
    tree = parsed(line)
    whole = rule(found, list(ast.walk(tree))) if tree is not None else None
    is_same = whole is not None and (whole.key, whole.names) == (told.key, told.names)
    return told._replace(fixes=whole.fixes) if whole is not None and is_same else told


def _recursion(failure: Failure, lang: str) -> FoundPlace | None:
    """Which functions call each other without end: the lines that a traceback repeats."""
    if failure.type != "RecursionError":
        return None
    tail = failure.frames[-LAST_FRAMES:]
    times = Counter((frame.file, frame.line, frame.function) for frame in tail)
    repeated = [frame for frame in tail if times[frame.file, frame.line, frame.function] > 1]
    lines = {(frame.file, frame.line): frame for frame in repeated}
    if not lines:
        return None
    told = [f"`{frame.function}` ({file_line(frame.file, frame.line)})" for frame in lines.values()]
    condition = say(
        "own-recursion" if len(told) == 1 else "own-recursion-several", lang, f=" → ".join(told[:SHOWN_FUNCTIONS])
    )
    return FoundPlace([*lines.values()][-1], condition, [], [], "rule")


def _is_mine(failure: Failure) -> bool:
    return bool(failure.frames) and is_own(failure.frames[-1])


def _by_rules(failure: Failure, rules: Sequence[LineRule], lang: str) -> FoundPlace | None:
    frame = failure.frames[-1] if failure.frames else None
    for exceptions, pattern, rule in rules:
        if failure.type not in exceptions.split() or not (found := pattern.search(failure.message)):
            continue
        for text in (marked(frame), code(frame)) if frame is not None else ("",):
            tree = parsed(text)
            told = rule(found, list(ast.walk(tree)) if tree is not None else [])
            if told is not None and told.key == "own-assert" and frame is not None:
                told = _whole_check(told, code(frame))
            if told is not None:
                told = _with_whole_line(told, found, rule, code(frame) if frame is not None else text)
                names = dict.fromkeys(name for name in told.names if name)
                values = {"f": frame.function if frame is not None else "", **told.values}
                return FoundPlace(
                    frame, say(told.key, lang, **values), [Origin(name, "data") for name in names],
                    [Remedy(key, (("x", text),), text, "rule") for key, text in told.fixes], "rule",
                )  # fmt: skip
    return None
