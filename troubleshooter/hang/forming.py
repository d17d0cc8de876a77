"""For whom ranks wait that form a group: their hooks tell which ranks it is to have. Stacks only tell who is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from troubleshooter.hang.collectives import MEETING, forms_first_group
from troubleshooter.hang.judge import HangVerdict
from troubleshooter.hang.recorded import Forming, ask, named
from troubleshooter.hang.standing import Standing


def with_forming(verdict: HangVerdict, folder: Path | None) -> HangVerdict:
    """The verdict on ranks of which some form a group, by what these say of it."""
    meet = [one for one in verdict.standing if one.collective == MEETING]
    if not meet or verdict.missing or verdict.cause == "ended":
        return verdict
    records = ask([one.rank for one in meet], folder)
    told = {number: record.forms for number, record in records.items() if record.forms is not None}
    if len(told) < len(meet):
        return verdict
    if all(forms_first_group(one.rank.stack) for one in verdict.standing):
        return _without_absent(verdict, told)
    if all(one.collective and one.rank.numbered for one in verdict.standing):
        late = absent_from(list(told.values())) & {one.rank.number for one in verdict.standing}
        return named(verdict, "branch", late) if late else verdict
    return verdict


def absent_from(told: Sequence[Forming]) -> frozenset[int]:
    """The ranks of a group that do not form it, if more of its ranks do. Empty if ranks form several groups, as any of these may be at fault."""
    if len({one.ranks for one in told}) != 1:
        return frozenset()
    here = frozenset(one.own for one in told)
    absent = told[0].ranks - here
    return absent if len(absent) < len(here) else frozenset()


def _without_absent(verdict: HangVerdict, told: Mapping[int, Forming]) -> HangVerdict:
    """The verdict on ranks that all wait for the run to begin, each with the number that it gave itself, and those that nobody has started. As many
    as are here, or a multiple of that, may be on other machines."""
    ranks, numbers = {one.ranks for one in told.values()}, {one.own for one in told.values()}
    absent = frozenset.union(*ranks) - numbers
    known = any(one.rank.numbered for one in verdict.standing)  # then the environment tells how many there are
    if known or len(ranks) != 1 or len(numbers) < len(told) or not absent or len(absent) % len(numbers) == 0:
        return verdict
    standing = sorted(
        (one._replace(rank=one.rank._replace(number=told[one.rank.number].own)) for one in verdict.standing),
        key=_number,
    )
    return HangVerdict("meeting", [], standing, sorted(absent), MEETING, standing)


def _number(one: Standing) -> int:
    return one.rank.number
