"""Which calls print a message: exceptions that are made, checks, warnings, loggers, prints."""

from __future__ import annotations

import ast
import builtins
from typing import NamedTuple

import re2

from kb import lazy
from kb.index.place import Kind, weight
from kb.index.template import Bound, TextOption, dotted, joined, options, percent

MIN_WEIGHT = 6
"""If only the name of a call says that it prints a message, the text needs at least this many literal characters."""
_BUILTIN = frozenset(
    name
    for name in dir(builtins)
    if isinstance(kind := getattr(builtins, name), type) and issubclass(kind, BaseException)
)
_EXCEPTION = lazy.compile(r"^_*[A-Z]\w*(?:Error|Exception|Failure)$")
_LEVELS = {
    "debug": "debug", "info": "info", "warn": "warning", "warning": "warning", "advice": "warning",
    "error": "error", "exception": "error", "critical": "critical", "fatal": "critical",
}  # fmt: skip
_LOGGER = lazy.compile(
    r"(?:^|\.)_{0,2}(?:[a-z_]{0,40}log|[a-z_]{0,40}logger|logging|LOG(?:GER)?|rank_zero_logger|ms_logger)(?:\(\))?$"
)
_LEVEL_NAME = lazy.compile(r"^_*(debug|info|warn|warning|advice|error|exception|critical|fatal)(?:_once|_rank0|_advice|_main_process|_all_ranks)?(?:_once)?$")  # fmt: skip
_LOG_FUNCTION = lazy.compile(r"^_*(?:rank_zero|rank0|main_rank|log_rank|log)_(debug|info|warn|warning|error|deprecation|once|dist|rank_0|single_rank|on_each_rank)\w*$")  # fmt: skip
_WARN = lazy.compile(r"^_*(?:warn(?:ings)?(?:_once|_explicit|_rank_?0)?|rank_zero_(?:warn|deprecation)|deprecat(?:e|ed|ion_warning)|warn_deprecated|issue_warning)$")  # fmt: skip
_PRINT = lazy.compile(
    r"^(?:print|pprint|rprint|print_rank_?\w*|rank_zero_print|print_once|echo|secho|\w*stderr\.write|\w*stdout\.write)$"
)
_CHECK = lazy.compile(r"^_*(?:check|assert|require|ensure|verify|expect)(?![A-Z])\w*$")
_RAISE = lazy.compile(r"^_*(?:raise|throw|fail|unimplemented|abort|die|unsupported|fatal)\w*$")
_TORCH_CHECKS = {
    "_check": "RuntimeError",
    "_check_with": None,
    "_check_index": "IndexError",
    "_check_value": "ValueError",
    "_check_type": "TypeError",
    "_check_not_implemented": "NotImplementedError",
    "_check_tensor_all": "RuntimeError",
    "_check_tensor_all_with": None,
    "check": "RuntimeError",
}


_CLUE = re2.compile(
    rb"(?i)(?:raise|assert|warn|log|print|check|error|exception|exit|echo|fail|throw|abort|die|unsupported|unimplemented|"
    rb"require|ensure|verify|expect|deprecat|debug|info|critical|fatal|write|super|issue|advice|once|interrupt|stop|:=)"
    rb"[^\n]*"
)
"""Each line in which a call of `said` or `raised` begins, or in which a name is bound that they need, matches this."""


class PrintingCall(NamedTuple):
    """What a call prints."""

    kind: Kind
    exception: str | None
    level: str | None
    texts: list[TextOption]
    condition: ast.expr | None = None
    """For a check: its condition, which is false when the message appears."""


def clues(source: str) -> list[int]:
    """The numbers of the lines in which a message can begin, counted from 1. The other lines need no search."""
    text = source.encode("utf-8", "replace")
    found: list[int] = []
    line, at = 1, 0
    for match in _CLUE.finditer(text):
        line += text.count(b"\n", at, match.start())
        at = match.start()
        found.append(line)
    return found


def exception_of(call: ast.Call) -> str | None:
    """The name of the exception class that a call seems to make, or None."""
    name = dotted(call.func)
    last = name.rpartition(".")[2]
    return name if last in _BUILTIN or _EXCEPTION.match(last) else None


def raised(node: ast.expr, bound: Bound) -> PrintingCall:
    """What ``raise node`` prints."""
    if isinstance(node, ast.Call):
        return PrintingCall("raise", dotted(node.func) or None, None, _heaviest(node, bound))
    return PrintingCall("raise", dotted(node) or None, None, [TextOption(())])


def said(call: ast.Call, bound: Bound, owner: str) -> PrintingCall | None:
    """What a call prints, or None. ``owner`` is the name of the class around it, "" outside of classes."""
    name = dotted(call.func) or (f"?.{call.func.attr}" if isinstance(call.func, ast.Attribute) else "")
    last = name.rpartition(".")[2]
    exception = exception_of(call)
    if exception is not None:
        kind: Kind = "exit" if last == "SystemExit" else "raise"
        return _weighty(PrintingCall(kind, exception, None, _heaviest(call, bound)), 1)
    if isinstance(call.func, ast.Attribute) and last == "__init__":
        made = owner if owner in _BUILTIN or _EXCEPTION.match(owner) else None
        return _weighty(PrintingCall("raise", made, None, _heaviest(call, bound)), MIN_WEIGHT) if made else None
    if not call.args and not call.keywords:
        return None
    return _reported(call, name, last, bound)


def _reported(call: ast.Call, name: str, last: str, bound: Bound) -> PrintingCall | None:
    if name == "sys.exit" or (last == "exit" and name in ("exit", "ctx.exit")):
        return _weighty(PrintingCall("exit", "SystemExit", None, _heaviest(call, bound)), MIN_WEIGHT)
    receiver = name[: -len(last)].rstrip(".")
    if (match := _LEVEL_NAME.match(last)) and (
        _LOGGER.search(receiver) or (receiver in ("", "self") and last != match[1])
    ):
        return _weighty(PrintingCall("log", None, _LEVELS[match[1]], _logged(call, bound)), MIN_WEIGHT)
    if last == "log" and _LOGGER.search(receiver) and len(call.args) > 1:
        level = _LEVELS.get(dotted(call.args[0]).rpartition(".")[2].lower())
        return _weighty(PrintingCall("log", None, level, _logged(call, bound, 1)), MIN_WEIGHT)
    if last == "error" and receiver.endswith("parser"):
        return _weighty(PrintingCall("exit", "SystemExit", None, _heaviest(call, bound)), MIN_WEIGHT)
    if _WARN.match(last) and (not receiver or receiver in ("warnings", "self", "cls", "?") or "warn" in receiver):
        return _weighty(_warned(call, bound), MIN_WEIGHT)
    if match := _LOG_FUNCTION.match(last):
        return _weighty(PrintingCall("log", None, _LEVELS.get(match[1], "info"), _logged(call, bound)), MIN_WEIGHT)
    if _PRINT.match(last) or _PRINT.match(name):
        parts = [options(argument, bound) for argument in call.args]
        spaced = [part for one in parts for part in ([TextOption((" ",))], one)][1:]
        return _weighty(PrintingCall("print", None, None, joined(spaced)), MIN_WEIGHT)
    if last in _TORCH_CHECKS and (receiver in ("torch", "") or last != "check") and len(call.args) > 1:
        first = 1 if last.endswith("_with") else 0
        made = dotted(call.args[0]) if first else _TORCH_CHECKS[last]
        texts = _heaviest(call, bound, first + 1)
        return _weighty(
            PrintingCall("check", made, None, texts, call.args[first] if len(call.args) > first else None), 1
        )
    if _CHECK.match(last) and len(call.args) + len(call.keywords) > 1:
        condition = call.args[0] if call.args else None
        return _sentence(PrintingCall("check", None, None, _heaviest(call, bound, 1), condition))
    if _RAISE.match(last):
        return _sentence(PrintingCall("raise", None, None, _heaviest(call, bound)))
    return None


def _warned(call: ast.Call, bound: Bound) -> PrintingCall:
    made = None
    for node in [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "category")]:
        if dotted(node).endswith("Warning"):
            made = dotted(node)
    return PrintingCall("warn", made or "UserWarning", None, _heaviest(call, bound))


def _logged(call: ast.Call, bound: Bound, first: int = 0) -> list[TextOption]:
    if len(call.args) <= first:
        return [TextOption(())]
    texts = options(call.args[first], bound)
    rest = call.args[first + 1 :]
    return [percent(text, rest) for text in texts] if rest else texts


def _heaviest(call: ast.Call, bound: Bound, first: int = 0) -> list[TextOption]:
    """The argument with the most literal text. A message may be the first argument, the second (``OSError``), or a keyword."""
    best: list[TextOption] = [TextOption(())]
    most = -1
    for node in [*call.args[first:], *(keyword.value for keyword in call.keywords if keyword.arg)]:
        if isinstance(node, ast.Starred):
            continue
        texts = options(node, bound)
        heavy = max(weight(text.pieces) for text in texts)
        if heavy > most and (heavy or most < 0):
            best, most = texts, heavy
    return best


def _weighty(what: PrintingCall, least: int) -> PrintingCall | None:
    texts = [text for text in what.texts if weight(text.pieces) >= least]
    return what._replace(texts=texts) if texts else None


def _sentence(what: PrintingCall) -> PrintingCall | None:
    """Whether a text looks like a sentence. A call that only its name marks as a check or a raise counts only then."""
    texts = [
        t
        for t in what.texts
        if weight(t.pieces) >= 10 and any(isinstance(p, str) and " " in p.strip() for p in t.pieces)
    ]
    return what._replace(texts=texts) if texts else None
