"""Messages that ask for a release of a package: "X requires transformers>=4.58.0", "accelerate >= 0.26.0 is required"."""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.explaining.message.message_answer import MessageAnswer, MessageRule
from troubleshooter.explaining.remedy import Remedy

_ASKED = lazy.compile(
    r"(?<![\w/.-])[`'\"]?(?P<x>[A-Za-z][\w.-]{1,40}?)[`'\"]?(?:\[[\w,-]{1,40}\])?(?: version)? ?"
    r"(?P<op>>=|==|~=|>|<=|<) ?v?(?P<v>\d{1,4}(?:\.\d{1,6}){1,3}(?:[abrc.]{1,6}\d{1,4})?)(?![\w.]*\d)"
)
_NEEDED = lazy.compile(
    r"(?i)\b(?:requires?|required|needs?|needed|install|upgrade|update|at least|must be|should be)\b"
)
_PRESENT = lazy.compile(
    r"(?i)\b(?:found|got|have|has|installed|current(?:ly)?|using)\b[^\d\n]{0,60}?v?(\d{1,4}(?:\.\d{1,6}){1,3}[\w.+]{0,20})"
)
MAX_AHEAD = 160
"""Characters behind the requirement in which the installed release is looked for."""


def _required(m: re.Match[str]) -> MessageAnswer | None:
    """A package, the release that is asked for, and the one that is installed, if the message tells it."""
    name, want, text = m["x"], f"{m['op']}{m['v']}", m.string
    if _NEEDED.search(text) is None:
        return None
    from kb.index.store import shipped  # only here is it asked which names are packages

    if all(shipped().package(one) is None for one in (name, name.replace("_", "-"))):
        return None
    command = f'pip install "{name}{want}"'
    fix = Remedy("do-run", (("x", command),), command, "message")
    present = _PRESENT.search(text, m.end(), m.end() + MAX_AHEAD)
    if present is None:
        return MessageAnswer("msg-release-asked", {"x": name, "want": want}, "", None, (fix,))
    installed = present[1].rstrip(".")
    return MessageAnswer("msg-needs-be", {"x": name, "v": installed, "want": want}, name, installed, (fix,))


_TYPES = "ImportError RuntimeError ValueError AssertionError NotImplementedError Exception VersionConflict ModuleNotFoundError"
RULE: MessageRule = (_TYPES, _ASKED, _required)
