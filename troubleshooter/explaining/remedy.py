"""One suggestion, and the values that it speaks of."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

Basis = Literal["message", "guard", "rule"]
CLEARLY_LIKE, CLEARLY_NEARER = 0.6, 0.05
"""Least likeness (0 to 1) of an allowed value to the refused one, and its least lead over the next: below, none is the one meant."""
SHORT, SHORT_LIKE = 4, 0.8
"""Words of fewer characters are like many others, so they have to be more alike."""
CUT = 3
"""Characters that may lack at the end of a value, where other values go on from the one meant."""
MAX_CHOICES = 8
"""Allowed values that a suggestion lists."""


class _Unknown:
    pass


UNKNOWN = _Unknown()


class Instance:
    """A value of which only the class is known; ``""``: nothing but that it is given.

    No named tuple, because values that are tuples are compared with it.
    """

    def __init__(self, of: str = "") -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and other.of == self.of

    def __hash__(self) -> int:
        return hash(self.of)


class Remedy(NamedTuple):
    """One suggestion: a phrase with its values (``x``: the argument it is about), and code that can stand in a call.

    ``part``: the part of the condition that it makes false, None where it was not derived from one. ``trial``: a value that
    fits the suggestion, with which it is checked, where it names none itself.
    """

    key: str
    values: tuple[tuple[str, str], ...]
    code: str | None
    basis: Basis = "guard"
    part: ast.expr | None = None
    trial: Any = UNKNOWN

    @property
    def subject(self) -> str:
        return dict(self.values).get("x", "")

    @property
    def value(self) -> Any:
        """What the argument would be: a value, an `Instance`, or `UNKNOWN` where the suggestion gives none."""
        told = dict(self.values).get("y")
        if self.trial is not UNKNOWN:
            return self.trial
        if self.key == "do-set":
            return literal(told)
        if self.key == "do-class":
            return Instance((told or "").partition(" / ")[0])
        return {"do-leave": None, "do-pass": Instance()}.get(self.key, UNKNOWN)


def literal(text: str | None) -> Any:
    """The value of a literal; `UNKNOWN` for other text. The values are not to be changed: each text is read once."""
    return UNKNOWN if text is None else _literal(text)


@lru_cache(maxsize=1024)
def _literal(text: str) -> Any:
    """One explanation asks for the same texts a thousand times, and reading one means to compile it."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return UNKNOWN


def nearest(value: Any, allowed: Sequence[Any]) -> Any:
    """The allowed value that was clearly meant; `UNKNOWN` where several may have been, or none is like it."""
    texts = {str(one): one for one in allowed}
    if value is UNKNOWN:
        return UNKNOWN
    same = [text for text in texts if _folded(text) == _folded(str(value))]
    longer = same or [text for text in texts if _folded(text).startswith(_folded(str(value)))]
    if len(longer) == 1:
        return texts[longer[0]]
    if longer:  # "cosin" means "cosine" and not "cosine_with_restarts", which goes on from it
        shortest = min(longer, key=len)
        is_meant = len(shortest) - len(str(value)) <= CUT and all(
            _folded(one).startswith(_folded(shortest)) for one in longer
        )
        return texts[shortest] if is_meant else UNKNOWN
    least = SHORT_LIKE if str(value).isalpha() and len(str(value)) < SHORT else CLEARLY_LIKE
    ranked = _by_likeness(str(value), texts)
    clear = len(ranked) < 2 or ranked[0][0] - ranked[1][0] >= CLEARLY_NEARER
    return texts[ranked[0][1]] if ranked and ranked[0][0] >= least and clear else UNKNOWN


def choices(value: Any, allowed: Sequence[Any]) -> str:
    """The allowed values as source, those like the refused one first where not all can be listed."""
    if len(allowed) <= MAX_CHOICES:
        return ", ".join(map(_source, allowed))
    texts = {str(one): one for one in allowed}
    begin = "" if value is UNKNOWN else str(value)
    ranked = [text for _, text in _by_likeness(begin, texts)]
    ranked.sort(key=lambda text: not _folded(text).startswith(_folded(begin)))
    return ", ".join(_source(texts[text]) for text in ranked[:MAX_CHOICES]) + ", …"


def _source(value: Any) -> str:
    """A value as source, the same in each run."""
    return (
        f"{{{', '.join(sorted(map(repr, value)))}}}" if isinstance(value, (set, frozenset)) and value else repr(value)
    )


def _folded(text: str) -> str:
    return text.lower().replace("-", "_")


def _by_likeness(value: str, texts: dict[str, Any]) -> list[tuple[float, str]]:
    import difflib

    found = [(difflib.SequenceMatcher(None, value.lower(), text.lower()).ratio(), text) for text in texts]
    return sorted(found, key=lambda one: -one[0])
