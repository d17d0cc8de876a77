"""What other threads of ranks wait in, while their main threads all wait at the same place."""

from __future__ import annotations

from collections.abc import Sequence

from troubleshooter.hang.collectives import POLLS, collective_of
from troubleshooter.hang.stacks import Stack
from troubleshooter.hang.standing import Standing, standing_of

_Place = tuple[object, ...]


def lacking_a_thread(standing: Sequence[Standing]) -> tuple[list[Standing], list[Standing]] | None:
    """The ranks that are not in a collective in which threads of the others wait, and those others, each told by that thread; None if the threads
    of all wait in the same ones. The fewer ranks went apart; if there are as many of both, those without it did not come to it."""
    threads = [_waiting_threads(one) for one in standing]
    kinds = sorted({frozenset(found) for found in threads}, key=lambda kind: (_count(threads, kind), len(kind)))
    if len(kinds) < 2:
        return None
    usual = kinds[-1]
    late = [one for one, found in zip(standing, threads, strict=True) if frozenset(found) != usual]
    waiting = [
        _told_by(one, next((found[place] for place in found if place not in _common_to(threads)), None))
        for one, found in zip(standing, threads, strict=True)
        if frozenset(found) == usual
    ]
    return late, waiting


def _count(threads: Sequence[dict[_Place, Stack]], kind: frozenset[_Place]) -> int:
    return sum(frozenset(found) == kind for found in threads)


def _common_to(threads: Sequence[dict[_Place, Stack]]) -> set[_Place]:
    return set.intersection(*(set(found) for found in threads))


def _waiting_threads(one: Standing) -> dict[_Place, Stack]:
    """By place: the threads beside the main one that wait in a collective of their own."""
    found: dict[_Place, Stack] = {}
    for stack in one.rank.stacks[1:]:
        if collective_of(stack) in ("", POLLS):
            continue
        told = standing_of(one.rank._replace(stacks=(stack,)))
        found[(told.collective, told.own)] = stack
    return found


def _told_by(one: Standing, stack: Stack | None) -> Standing:
    return one if stack is None else standing_of(one.rank._replace(stacks=(stack, *one.rank.stacks)))
