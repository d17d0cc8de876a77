"""Whether a suggestion that would end the exception is also one that a user wants.

A condition can be made false in ways that nobody means: by dropping the feature that was asked for, by switching a check off,
by setting a value that the library sets itself. Such a suggestion is worse than none, because the explanation names the
condition, the argument and its value anyway. So a suggestion has to be tied to what the log shows:

- its argument is named by the message, is an option of a configuration, or the user's own call shows it;
- what takes something away (None, False, "no") has to be what the message speaks against;
- a class has to be one that the user can make, and a package one that the message asks to install;
- an error that the library calls its own has no suggestion at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from kb import lazy
from troubleshooter.explaining.message import advice
from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.origin import Origin, Origins
from troubleshooter.explaining.place.conditions import Atom, Formula, atoms, comparison, is_none
from troubleshooter.explaining.place.holding import ABSTRACT
from troubleshooter.explaining.remedy import Remedy, literal

_CHECKS = lazy.compile(r"(?:un)?safe|strict|check|verif|valid|raise|force|ignore|allow|trust|enforce|fail")
"""How switches begin that turn a check off."""
_AGAINST = lazy.compile(
    r"(?i)\b(?:not (?:\w+ ){0,2}(?:supported|allowed|compatible|used|work|meaningful)|unsupported|only supported|can(?:not|'t)|incompatible|exclusive|together"
    r"|both|only one|either|already|instead|remove|unset|deprecated|without|neither)\b"
)
"""Words of a message that speaks against something being there."""
_INTERNAL = lazy.compile(
    r"(?i)\b(?:should(?:n't| not| never) happen|please (?:report|file|open|submit|raise) (?:\w+ ){0,3}(?:issue|bug)|internal error|report this"
    r"|this is a bug|unreachable|not implemented yet)\b"
)
"""Words of a message about a fault of the library itself."""
_WHAT_IT_IS = r"[^;]{0,20}? (?:should|must|has to|needs to) be (?!None|empty|unset|left)"
"""How a message goes on behind a name if it tells which values are good."""
_CALLED = {
    "str": "(?:str|string|text)",
    "int": "(?:int|integer)",
    "dict": "(?:dict|dictionary)",
    "bool": "(?:bool|boolean)",
}
"""How messages call a class, as patterns."""
MANY = 4
"""Parts of a condition of which none can be picked out without a word of the message."""
OFF = ("no", "none", "off", "never", "disabled")
"""Texts that switch a feature off."""


def meant(several: Sequence[Remedy], condition: Formula, message: str, origins: Origins) -> list[Remedy]:
    """Those of the suggestions that a user can want, what takes something away behind the others."""
    if not several or _INTERNAL.search(message):
        return []
    known = {one.name: one for atom in atoms(condition) for one in origins(atom.expression)}
    count = len(list(atoms(condition)))
    is_only, is_one_of_many = count == 1, count >= MANY
    speaks = any(names(message, name) for name in known)
    kept = [
        one
        for one in several
        if _is_tied(one, known.get(one.subject), message, is_only=is_only, is_one_of_many=is_one_of_many)
        and (not takes_away(one) or _may_go(one, known.get(one.subject), condition, message, origins, speaks=speaks))
    ]
    return sorted(kept, key=takes_away)


def takes_away(remedy: Remedy) -> bool:
    """Whether a suggestion leaves an argument out or switches something off."""
    value = remedy.value
    return value is None or value is False or (isinstance(value, str) and value.lower() in OFF) or _to_zero(remedy)


def _to_zero(remedy: Remedy) -> bool:
    """Whether a number is set to 0 only because the condition asks whether it is there."""
    part = remedy.part
    is_zero = remedy.key == "do-set" and remedy.value == 0 and isinstance(remedy.value, int)
    return is_zero and isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Eq, ast.NotEq))


def _is_tied(
    remedy: Remedy, origin: Origin | None, message: str, *, is_only: bool, is_one_of_many: bool = False
) -> bool:
    """Whether the log shows that the suggestion is about something the user sets, and which class or package it means."""
    if remedy.key == "do-install":
        name = re.escape(remedy.subject).replace("\\-", "[-_]")
        said = rf"(?i)install[^.]{{0,20}}\b{name}\b|\b{name}\b[^.]{{0,20}}(?:install|package|library)"
        return re.search(said, message) is not None
    is_named = names(message, remedy.subject)
    if remedy.key == "do-set" and _CHECKS.match(remedy.subject) and not is_named:
        return False
    if remedy.key == "do-set" and _wraps(remedy, origin):
        return re.search(r"(?i)\b(?:lists?|sequence|tuples?|several)\b", message) is not None
    if remedy.key in ("do-class", "do-class-each"):
        classes = dict(remedy.values)["y"].split(" / ")
        if classes[0].startswith("_") or classes[0] in ABSTRACT:
            return False
        if not is_only and not any(re.search(rf"(?i)\b{_CALLED.get(one, one)}s?\b", message) for one in classes):
            return False  # one way of several, and nothing says that it is this one
    if origin is None:
        return is_named
    if is_only and remedy.key in ("do-pass", "do-set", "do-pair"):
        return True
    if remedy.key == "do-pass" and not is_named and origin.passed is not False and is_one_of_many:
        return False  # one of several conditions, and nothing says that it is this one
    return is_named or origin.passed is not None or origin.kind in ("option", "environment")


def _wraps(remedy: Remedy, origin: Origin | None) -> bool:
    """Whether a suggestion only puts the given value into a list."""
    return origin is not None and origin.value is not None and remedy.value == [literal(origin.value)]


def _may_go(
    remedy: Remedy, origin: Origin | None, condition: Formula, message: str, origins: Origins, *, speaks: bool
) -> bool:
    """Whether the message, or another argument that excludes it, speaks against what a suggestion takes away.

    ``speaks``: whether the message names any argument of the condition. If it does, what it does not name stays.
    """
    if remedy.key == "do-leave" and origin is not None and _has_to_be_given(origin):
        return False
    stance = advice.wanted(message).get(remedy.subject)
    if stance is not None:
        return not stance
    if speaks and not names(message, remedy.subject):
        return False
    if remedy.key == "do-leave" and re.search(rf"{re.escape(remedy.subject)}\b{_WHAT_IT_IS}", message):
        return False
    if re.search(rf"{re.escape(remedy.subject)}[`'\"]? (?:requires|needs)\b", message):
        return False  # the message says what it needs, not that it should go
    if _AGAINST.search(message) is not None:
        return True
    if _to_zero(remedy):
        return False
    if remedy.value is False:
        return True
    if len(list(atoms(condition))) == 1:
        return True
    others = (atom for atom in atoms(condition) if atom.expression is not remedy.part and _is_given(atom))
    given = [one for atom in others for one in origins(atom.expression) if one.name != remedy.subject and one.exact]
    return any(one.kind in ("argument", "option", "environment") for one in given)


def _has_to_be_given(origin: Origin) -> bool:
    """Whether a parameter has no default, as far as its annotation shows that it is a parameter."""
    optional = "None" in (origin.annotation or "") or "Optional" in (origin.annotation or "")
    return origin.default is None and bool(origin.annotation) and not optional


def _is_given(atom: Atom) -> bool:
    """Whether a part says that something is there: given, set, or of a value."""
    found = comparison(atom)
    if found is None:
        return atom.holds and isinstance(atom.expression, (ast.Name, ast.Attribute))
    return found[1] in (ast.IsNot, ast.NotEq) if is_none(found[2]) else found[1] is ast.Eq
