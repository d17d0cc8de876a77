"""The condition `exception` or `message` as an author writes it."""

from __future__ import annotations

from pydantic import model_validator

from kb.compiled_conditions import MessageCondition
from kb.conditions import rarity
from kb.conditions.base import (
    ConditionExample,
    ConditionForm,
    Meaning,
    Numbering,
    TypeName,
    Wording,
    as_list,
    compiled_patterns,
    required_literals,
)


class MessageForm(ConditionForm):
    """An exception, or a printed message, of the log.

    ``exception`` is a type's last dotted part (or several); ``message`` a pattern over the message with white space
    folded. A paste that lost the type still matches by its message: the type is then "not seen". With
    ``message`` alone any line of the log may hold it.
    """

    KIND = "message"
    KEYS = ("exception", "message")
    MEANING = Meaning(
        write="`exception: T`, `message: P`, or both",
        holds=(
            "The log has an exception of type T (the last dotted part; a list of types means any of them) whose message P "
            "finds. White space in the message is folded, so a line break is one space. `message` alone is also found in "
            "any printed line. With both, a line without a type counts too if the log shows no exception of another type."
        ),
        contradicted=(
            "Never. A message whose exception has another type counts as not seen. So list every type that it had over the "
            "versions, or leave `exception` out if the message says enough."
        ),
    )
    EXAMPLE = ConditionExample(
        condition={"exception": "FluxError", "message": "flux is gone"},
        held="quux.FluxError: the flux is gone",
    )

    exception: TypeName | list[TypeName] | None = None
    message: Wording | list[Wording] | None = None

    @model_validator(mode="after")
    def _one(self) -> MessageForm:
        if self.exception is None and self.message is None:
            raise ValueError("expected `exception`, `message` or both")
        return self

    def compile(self, number: Numbering) -> MessageCondition:
        patterns = compiled_patterns(as_list(self.message), number)
        return {"kind": "message", "exception": as_list(self.exception), "patterns": patterns}

    def literals(self) -> list[str]:
        return required_literals(as_list(self.message))

    def signals(self) -> list[str]:
        return [] if self.message is not None else [f"exception:{name}" for name in as_list(self.exception)]

    def rarity(self) -> int:
        return rarity.WORDS if self.message is not None else rarity.EXCEPTION
