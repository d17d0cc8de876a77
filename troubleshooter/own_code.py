"""``check``: which certain answers rest on words that anybody's code prints.

A sample's exception is printed again as if a script of the user's own had raised it, with other names wherever the answer does
not depend on them. If the entry still answers "certain", Python prints such a message about any code, and everybody's code has
the names on which the answer depends, then the entry names a library's cause for words that prove none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kb.any_code import Generic, generic
from kb.load import Loaded
from kb.problem import Problem
from kb.samples import EntrySample
from troubleshooter.limits import limited
from troubleshooter.pipeline import Diagnoser
from troubleshooter.rank import rank
from troubleshooter.ranked import Ranked
from troubleshooter.read.sources import from_text

FRAMES = (
    "Traceback (most recent call last):\n"
    '  File "/home/me/project/train.py", line 57, in <module>\n'
    "    main()\n"
    '  File "/home/me/project/train.py", line 41, in main\n'
    "    x = compute(batch)\n"
)
"""The traceback of a script that uses no library."""


class Claim(NamedTuple):
    """A certain answer on words that Python prints about any code."""

    symptom: str
    printed: str
    """The last line of the traceback: with a stranger's names wherever the answer does not depend on them."""
    needed: tuple[str, ...]
    """The names on which the answer depends."""
    everyday: bool
    """Whether everybody's code has all of these names, so that they prove nothing."""


def problems(item: Loaded, tool: Diagnoser, sample: EntrySample, answer: Ranked) -> Iterator[Problem]:
    """A problem if the entry's answer to a sample is certain of words that anybody's code prints."""
    claim = claimed(tool, answer)
    if claim is not None and claim.everyday:
        names = [symptom.name or str(number) for number, symptom in enumerate(item.entry.symptoms, 1)]
        text = f"is certain also where a script of anybody's own ends with {claim.printed!r} (sample {sample.name})"
        step = "require a frame, a line or a name that only the library has, or take `decisive` out"
        yield item.document.problem(("symptoms", names.index(claim.symptom)), text, step)


def claimed(tool: Diagnoser, answer: Ranked) -> Claim | None:
    """What an entry claims for certain of the exception on which its answer rests, were it raised by a script of the user's own."""
    anchor = answer.candidate.trial.anchor
    if answer.word != "certain" or anchor is None or anchor.failure is None:
        return None
    found = generic(anchor.failure.type, anchor.failure.message)
    return _claim(answer.candidate.id, tool, anchor.failure.exception, found) if found is not None else None


def _claim(id_: str, tool: Diagnoser, type_: str, said: Generic) -> Claim | None:
    replaced: frozenset[int] = frozenset()
    if (symptom := _certain(id_, tool, type_, said.text)) is None:
        everything = frozenset(range(len(said.slots)))
        if not everything or (symptom := _certain(id_, tool, type_, said.with_others(everything))) is None:
            return None
        replaced = everything
    for number in range(len(said.slots)):
        tried = replaced | {number}
        if tried != replaced and (again := _certain(id_, tool, type_, said.with_others(tried))) is not None:
            replaced, symptom = tried, again
    needed = [slot for number, slot in enumerate(said.slots) if number not in replaced]
    printed = f"{type_}: {said.with_others(replaced)}".removesuffix(": ")
    return Claim(symptom, printed, tuple(slot.value for slot in needed), all(slot.everyday for slot in needed))


def _certain(id_: str, tool: Diagnoser, type_: str, message: str) -> str | None:
    """The symptom by which an entry is a certain answer on an exception of the user's own script; None if it is none."""
    log = f"{FRAMES}{type_}: {message}".removesuffix(": ") + "\n"
    observations = tool.observe([from_text(log)], whole=False)
    ranked = limited(rank(tool.match(observations), observations), observations, tool.knowledge)
    return next(
        (one.candidate.trial.symptom for one in ranked if one.candidate.id == id_ and one.word == "certain"), None
    )
