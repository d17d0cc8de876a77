"""What all conditions have in common: the base class of their forms, and helpers to compile them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from kb import compiled_conditions as compiled
from kb import patterns
from kb.conditions import rarity


class TextCheck(Enum):
    """What `kb.form_texts` checks of a text beside its length. The type of a field says it, so no check can be forgotten."""

    PATTERN = "a pattern that takes linear time"
    WORDING = "such a pattern, with a literal in every match: entries are found by it"
    RANGE = "a PEP 440 range that some version lies in"


Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
TypeName = Annotated[str, Field(min_length=2, max_length=600)]
"""The last dotted part of an exception's type."""
Pattern = Annotated[str, Field(min_length=2, max_length=600), TextCheck.PATTERN]
ShortPattern = Annotated[str, Field(min_length=1, max_length=600), TextCheck.PATTERN]
"""A pattern that may be one character, such as a number."""
Wording = Annotated[str, Field(min_length=2, max_length=600), TextCheck.WORDING]
"""A pattern by whose words an entry is found."""
Range = Annotated[str, TextCheck.RANGE]
OneOrMore = str | list[str]
Numbering = Callable[[str], int]
"""Gives a literal its number within the entry."""


class Part(BaseModel):
    """Base of all parts: unknown keys are errors, ``no`` is not the string "no"."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Meaning(NamedTuple):
    """A condition's row in the reference: how an author writes it, when it holds, and when a log contradicts it."""

    write: str
    holds: str
    contradicted: str


ANCHOR = {
    "exception": "QuuxError",
    "message": "flux capacitor is empty(?: after (?P<used>\\d+) of (?P<given>\\d+) steps)?",
}
"""The condition beside which the examples of all conditions are tried: "QuuxError: the flux capacitor is empty"."""


class ConditionExample(NamedTuple):
    """A condition as an author writes it, with logs on which it is tried. The reference shows them, and a test tries them.

    A log that does not raise the `QuuxError` of `ANCHOR` by itself ends with it. ``contradicted`` is "" where no log can be.
    ``of_facts``: instead of logs these are variables as crash facts hold them, `NAME: JSON`.
    """

    condition: dict[str, Any]
    held: str
    contradicted: str = ""
    of_facts: bool = False


class ConditionForm(Part):
    """Base of the forms of conditions."""

    KIND: ClassVar[str]
    """The compiled condition's ``kind``."""
    KEYS: ClassVar[tuple[str, ...]]
    """Keys of which one tells this kind from the others."""
    MEANING: ClassVar[Meaning]
    EXAMPLE: ClassVar[ConditionExample]

    @classmethod
    def tolerated(cls) -> bool:
        """Whether a required condition of this kind only lowers the confidence if it is not seen."""
        return cls.KIND in compiled.TOLERATED or cls.KIND == "not"

    @abstractmethod
    def compile(self, number: Numbering) -> compiled.Condition:
        """The condition as the matcher evaluates it."""

    def literals(self) -> list[str]:
        """Literals; a log in which the condition holds contains at least one of them. If the list is empty, `signals`
        counts."""
        return []

    def signals(self) -> list[str]:
        """Observed things (``metric:loss``, ``exit:-9``); a log in which the condition holds shows at least one of
        them."""
        return ["always"]

    def rarity(self) -> int:
        """One of the numbers of `kb.conditions.rarity`."""
        return rarity.ANYTHING


if TYPE_CHECKING:
    Condition = ConditionForm
    """A condition of any kind. At run time it is the union that `kb.conditions` makes of its list."""


def rarest(conditions: Sequence[ConditionForm]) -> ConditionForm:
    """The condition that finds the entry: the first of the rarest."""
    return max(conditions, key=lambda condition: condition.rarity())


def as_list(value: str | list[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value


def spellings(names: list[str]) -> list[str]:
    """Names with ``-`` and with ``_``."""
    return sorted({s for n in names for s in (n, n.replace("-", "_"), n.replace("_", "-"))})


def wordings(given: list[str]) -> Iterator[str]:
    """The patterns, then what is left of them on a rendered page, where they differ."""
    yield from given
    yield from (bare for pattern in given if (bare := patterns.rendered(pattern)) is not None)


def required_literals(given: list[str]) -> list[str]:
    """The literals of all wordings of the patterns."""
    return [text for pattern in wordings(given) for text in patterns.literals(pattern)]


def compiled_pattern(pattern: str, number: Numbering) -> compiled.Pattern:
    literals = [number(text) for text in patterns.literals(pattern)]
    return {"re": pattern, "literals": literals, "required": patterns.required_texts(pattern)}


def compiled_patterns(given: list[str], number: Numbering) -> list[compiled.Pattern]:
    return [compiled_pattern(pattern, number) for pattern in wordings(given)]
