"""The one rank that a rank waits for, as its line says: ``dist.recv(tensor, src=rank - 1)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from troubleshooter.hang.source import calls_at, last_name
from troubleshooter.hang.standing import Standing

_WITH_ONE = frozenset(("send", "recv", "isend", "irecv", "send_object_list", "recv_object_list"))
_OTHER_END = ("src", "dst")
_NUMBERS = frozenset(("rank", "global_rank", "my_rank", "get_rank"))
_COUNTS = frozenset(("world_size", "ranks", "num_ranks", "get_world_size"))
_LEAST_WAITING = 2


def awaited_by_several(standing: Sequence[Standing]) -> Standing | None:
    """The rank for which at least `_LEAST_WAITING` others wait, each in an operation with it alone, while nobody waits for another one."""
    waiting = [one for one in standing if one.collective in _WITH_ONE]
    named = {_other_end(one, len(standing)) for one in waiting}
    if len(waiting) < _LEAST_WAITING or len(named) != 1:
        return None
    return next((one for one in standing if one not in waiting and {one.rank.number} == named), None)


def _other_end(one: Standing, count: int) -> int | None:
    """The number of the rank with which a rank exchanges something; None if its line does not tell."""
    if one.own is None or not one.rank.numbered:
        return None
    found = {
        _value(given, one.rank.number, count)
        for call in calls_at(one.own)
        if last_name(call.func) in _WITH_ONE
        for given in _given(call)
    }
    return found.pop() if len(found) == 1 else None


def _given(call: ast.Call) -> list[ast.expr]:
    named = [word.value for word in call.keywords if word.arg in _OTHER_END]
    return named or call.args[1:2]


def _value(given: ast.expr, number: int, count: int) -> int | None:
    if isinstance(given, ast.Constant) and type(given.value) is int:
        return given.value
    if isinstance(given, ast.BinOp):
        left, right = (_value(part, number, count) for part in (given.left, given.right))
        if left is None or right is None:
            return None
        if isinstance(given.op, ast.Mod):
            return left % right if right else None
        if isinstance(given.op, ast.Sub):
            return left - right
        return left + right if isinstance(given.op, ast.Add) else None
    if isinstance(given, ast.Call) and (given.args or given.keywords):
        return None  # a number within a group
    name = last_name(given.func if isinstance(given, ast.Call) else given)
    return number if name in _NUMBERS else count if name in _COUNTS else None
