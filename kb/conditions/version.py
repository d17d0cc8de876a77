"""The condition `version` as an author writes it."""

from __future__ import annotations

from kb.compiled_conditions import VersionCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering, Range


class VersionForm(ConditionForm):
    """Versions that the log shows, by package (``python``, ``cuda`` and ``driver`` too), as PEP 440 ranges."""

    KIND = "version"
    KEYS = ("version",)
    MEANING = Meaning(
        write="`version: {package: RANGE}`",
        holds=(
            "The log shows a version of the package inside of this PEP 440 range. `python`, `cuda` and `driver` count as "
            "packages; `X.dev0` and `X+cu128` count as X."
        ),
        contradicted="The log shows a version outside of the range.",
    )
    EXAMPLE = ConditionExample(
        condition={"version": {"torch": "<2.4"}},
        held="torch==2.1.0",
        contradicted="torch==2.6.0",
    )

    version: dict[str, Range]

    def compile(self, number: Numbering) -> VersionCondition:
        return {"kind": "version", "version": self.version}
