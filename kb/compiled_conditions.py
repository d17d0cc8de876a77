"""The compiled form of conditions: `kb.conditions` writes it, and `troubleshooter.match.conditions` evaluates it.

It consists of plain dictionaries of JSON, so that an answer neither imports pydantic nor decodes anything. Both sides
are type-checked against it.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

TOLERATED = frozenset({"frame", "version", "package", "gpu", "flag", "platform", "ranks", "phase"})
"""Kinds of conditions that ask for something that a paste often lacks. If such a condition is required and not seen, it
only lowers the confidence. (`kb.compile.link` marks the symptoms for which even these must be seen.)"""


class Pattern(TypedDict):
    """``literals``: numbers of literals; each match contains at least one. ``required``: see
    `kb.patterns.required_texts`."""

    re: str
    literals: list[int]
    required: list[list[str]]


class MessageCondition(TypedDict):
    kind: Literal["message"]
    exception: list[str]
    patterns: list[Pattern]


class LineCondition(TypedDict):
    kind: Literal["line"]
    patterns: list[Pattern]
    at_least: int


class FrameCondition(TypedDict):
    kind: Literal["frame"]
    paths: list[str]
    functions: list[str]
    at: Literal["innermost", "anywhere"]


class ValueCondition(TypedDict):
    """``asked``: by property, a pattern of its whole text, or whether it is so."""

    kind: Literal["value"]
    name: str
    function: str | None
    asked: dict[str, str | bool]


MetricCondition = TypedDict(
    "MetricCondition",
    {
        "kind": Literal["metric"], "names": list[str], "is": str, "value": "float | int | None", "every": bool,
        "after_finite": bool, "points": int, "beside": "list[MetricCondition]",
    },
)  # fmt: skip


class VersionCondition(TypedDict):
    kind: Literal["version"]
    version: dict[str, str]


class PackageCondition(TypedDict):
    kind: Literal["package"]
    names: list[str]
    literals: list[int]


class GpuCondition(TypedDict):
    kind: Literal["gpu"]
    gpu: str | None
    capability: str | None


class FlagCondition(TypedDict):
    kind: Literal["flag"]
    names: list[str]
    value: str | None
    literals: list[int]


class PlatformCondition(TypedDict):
    kind: Literal["platform"]
    platform: str


class ExitCondition(TypedDict):
    kind: Literal["exit"]
    statuses: list[int]


class EndsCondition(TypedDict):
    kind: Literal["ends"]
    ends: str


class RanksCondition(TypedDict):
    kind: Literal["ranks"]
    ranks: Literal["one", "several", "first"]


class PhaseCondition(TypedDict):
    kind: Literal["phase"]
    phases: list[str]


class RelationCondition(TypedDict):
    kind: Literal["relation"]
    relation: str
    of: dict[str, str | int | float]


class RowCondition(TypedDict):
    kind: Literal["row"]
    row: str
    where: dict[str, str]


class AnyCondition(TypedDict):
    kind: Literal["any"]
    parts: list[Condition]


class AllCondition(TypedDict):
    kind: Literal["all"]
    parts: list[Condition]


class NotCondition(TypedDict):
    kind: Literal["not"]
    part: Condition


Condition = (
    MessageCondition | LineCondition | FrameCondition | ValueCondition | MetricCondition | VersionCondition | PackageCondition | GpuCondition
    | FlagCondition | PlatformCondition | ExitCondition | EndsCondition | RanksCondition | PhaseCondition | RelationCondition
    | RowCondition | AnyCondition | AllCondition | NotCondition
)  # fmt: skip
Kind = Literal[
    "message", "line", "frame", "value", "metric", "version", "package", "gpu", "flag", "platform", "exit", "ends", "ranks", "phase",
    "relation", "row", "any", "all", "not",
]  # fmt: skip


class CompiledSymptom(TypedDict, total=False):
    """``strict`` is present, and true, if even conditions of `TOLERATED` kinds must be seen."""

    name: str
    decisive: bool
    require: list[Condition]
    support: list[Condition]
    exclude: list[Condition]
    strict: bool


def patterns_of(condition: Condition) -> list[Pattern]:
    """The patterns of a condition and of its parts. A `not` has none."""
    if condition["kind"] == "any" or condition["kind"] == "all":
        return [pattern for part in condition["parts"] for pattern in patterns_of(part)]
    return own_patterns(condition)


_NO_PATTERNS: list[Pattern] = []


def own_patterns(condition: Condition) -> list[Pattern]:
    """The patterns of a condition without those of its parts: its ``patterns``, of whatever kind it is. A log in which the
    condition holds is matched by at least one of them."""
    found: Any = condition.get("patterns")
    return found or _NO_PATTERNS


def has(condition: Condition, kind: Kind) -> bool:
    """Whether a condition, or a part of it, is of a kind. The part of a `not` does not count."""
    if condition["kind"] == "any" or condition["kind"] == "all":
        return any(has(part, kind) for part in condition["parts"])
    return condition["kind"] == kind
