"""What a message itself says to do: values that it allows, and settings that it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from kb import lazy
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, choices, literal, nearest

_VALUE = r"""("[^"]{0,60}"|'[^']{0,60}'|-?\d[\w.+-]*|True|False|None|\[[^\]]{0,60}\]|\{[^}]{0,80}\})"""
_SETTING = lazy.compile(
    rf"(?<![\w.'\"])(?:--)?([A-Za-z_]\w*(?:\.\w+)*)`?(?: (?:flag|argument|option|parameter|field))?(?:\s?={{1,2}}\s?|\s+to\s+)`?{_VALUE}"
)
_TO_WORD = lazy.compile(r"\b[Ss]et [`'\"]?(?:--)?([A-Za-z_]\w*)[`'\"]? to `([A-Za-z]\w*)`")
_SWITCH = lazy.compile(rf"(?<![\w.])`?([a-z_]\w+)`?\s?([<>])\s?{_VALUE}")
_PRESENT = lazy.compile(
    r"(?:\b(?:you (?:set|passed?|gave|have)|when|while|with|if|because|using|but got|got|since|although|is set)\b)[^.;]{0,40}$",
    re.I,
)
_ASKS = lazy.compile(
    r"\b(?:set|use|pass|provide|specify|supply|let|enable|disable|need|must|should|please|try|consider|instead)\b", re.I
)
_WAY = lazy.compile(
    r"(?:^|[,.;:] |\b(?:or|and|please|should|must|can|to) )(?:re)?(?:load|run|call|launch|create|build|initiali[sz]e|instantiate)\b[^.;]{0,40}\bwith\b[^.;]{0,20}$",
    re.I,
)
"""An instruction that ends in "with": "or load the model with"."""
_ORDER = lazy.compile(r"(?:^|[,.;:] )(?:[Pp]lease |then )?(?:[Ss]et|[Pp]ass|[Uu]se) [`'\"]?$")
"""The end of a text that begins an instruction: "when there are several, set"."""
_NOT = lazy.compile(r"\b(?:not|never|cannot|can't|don't|only|unsupported)\b[^.;]{0,20}$", re.I)
_STATED = lazy.compile(r"`?,? (?:but|should|must|which|is|are|exceeds?)\b")
"""How a sentence goes on behind a setting that it found and speaks against."""
_COMPARED = lazy.compile(
    r"\b(?:than|exceeds?|exceeding|below|above|at most|at least|up to|equal to|as many as) [`'\"]?$", re.I
)
"""The end of a text that compares something with the setting."""
_TELLS_MORE = lazy.compile(
    r"(?:TORCH_LOGS|TORCHDYNAMO_VERBOSE|TORCH_SHOW_CPP_STACKTRACES|HYDRA_FULL_ERROR|NCCL_DEBUG|CUDA_LAUNCH_BLOCKING)$"
)
"""Settings with which a program only tells more of what went wrong."""
_SUGGESTED = lazy.compile(r"\bSuggested fix(?:es)?:\s{1,8}([^\s][^\n]{2,120})")
MAX_SENTENCE, MAX_SETTINGS = 400, 40
"""Characters in front of a setting that are read as its sentence, and settings of one message that are looked at."""
MAX_LISTED = 2_000
"""Characters of a list of allowed values in a message."""
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_ALLOWED = lazy.compile(
    r"(?:one of|select|choose|allowed|available|supported|valid|expected|must be|should be|can be|options|keys are|columns in"
    r"|(?:current|existing|loaded|registered|known)(?: \w+){1,3}(?: are)?:)"
    r"[^\[\](){}]{0,60}([\[({])",
    re.I,
)
_THERE = lazy.compile(r"(?:current|existing|loaded|registered|known)", re.I)
"""How a list of what is there begins; it may hold a single item."""
_QUOTED = lazy.compile(
    r"(?:available|supported|valid|allowed|choose|known)[^:;.\[({'\"`]{0,40}[^;.'\"`]{0,40}((?:(?<!\w)['\"`][\w.+-]{1,40}['\"`](?:, (?:and |or )?| and | or )){1,20}['\"`][\w.+-]{1,40}['\"`])",
    re.I,
)
_LISTED = lazy.compile(
    r"(?:one of|must be|choose between|choose from|either|types?:)\s[^:'\"]{0,40}?:?\s*(?<![\w.-])((?:['\"`]?[\w.-]+['\"`]?(?:, (?:or |and )?| or | and )){1,40}['\"`]?[\w.-]+['\"`]?)",
    re.I,
)
_NO_LIST = lazy.compile(r"\b(?:but|got|when|which|if)\b")
_BAD = lazy.compile(
    r"['\"`]([^'\"`]{1,80})['\"`]|(?<![\w.])([A-Za-z_][\w.-]*|-?\d[\w.]*)(?= is not an? (?:valid|known)| is not (?:supported|known|recogni[sz]ed|allowed|available)| is (?:unknown|invalid|unsupported)| not found| is not implemented)|(?:got|mode|passed|bias|value|string)[ :]+`?([\w.-]+)"
)


_INSTALL = lazy.compile(
    r"(?<![\w-])(pip3? install (?:--?[\w-]+ )*[^`\"\n;)]{1,80}?)(?=`|\"|'?[.,]?(?:\s|$)(?!-|[\w.]+[=<>\[])|\n|\))"
)
_REQUIRED = lazy.compile(
    r"\b(?:[Rr]equires?|[Nn]eeds?) `([\w-]{2,40})`(?: or `[\w-]{2,40}`)? to be installed|\b[Ii]nstall(?: the)? [`']([a-zA-Z][\w-]{1,40})[`'](?! to )"
)
_NEWER = lazy.compile(
    r"(?:latest|newer|newest|recent) version of [`'\"]?([a-z][\w-]{2,40})|\b(?:[Uu]pgrade|[Uu]pdate) (?:to )?[`'\"]?([a-z]\w{2,20}(?:[_-]\w{1,20})?)[`'\"]?(?:(?= or |[,.] )| (?:to|with|via|by|package|library)\b)"
)
_CALL = lazy.compile(
    r"\b(?:[Uu]se|[Cc]all|[Tt]ry|[Rr]un|using|calling)\b([^.`'\n]{0,40})[`']([\w.]{1,80}\([^`'\n]{0,80}\))[`']"
)
_METHOD = lazy.compile(
    r"\b(?:make|turn|convert|cast|change|move)\b[^.;\n]{0,80}\b(?:with|by|via|using) [`'](\.[A-Za-z_]\w{0,60}\([^`'\n]{0,60}\))[`']"
)
"""A method by which a message says to convert something."""
_AGAINST = lazy.compile(r"\b(?:instead of|not|rather than|before|after|when|if)\b")
_NAME = r"[`'\"]?(?:--)?([A-Za-z_]\w*_\w+|(?<=[`'\"])[A-Za-z_]\w*)[`'\"]?(?![\w=(.])"
_WANTED: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    (rf"(?i)\b(?:deprecated|remove|unset|drop|omit|disable|instead of|without|(?:do not|don't|cannot|can't|not) (?:pass|set|use|provide|specify|be used with))(?: the| a| an| using| setting| passing){{0,2}} {_NAME}", ("deprecated", "remove", "unset", "drop", "omit", "disable", "instead", "without", "not", "n't"), False),
    (rf"(?i){_NAME} (?:is|are) (?:a |an |currently |now ){{0,2}}(?:deprecated|not supported|not implemented|unsupported|not allowed|incompatible|ignored)", ("deprecated", "supported", "implemented", "allowed", "incompatible", "ignored"), False),
    (rf"(?i){_NAME} (?:can ?not|can't|must not|should not) be (?:used|set|passed|given|specified|combined)(?! (?:together|both|at the|simul|in comb|at once))", ("not be", "n't be"), False),
    (rf"(?i)\b(?:pass|provide|specify|supply|set|define|give|requires?|needs?)(?: only| also| in| along| either| both| a| an| the| at least| one of){{0,3}} {_NAME}", ("pass", "provide", "specify", "supply", "set", "define", "give", "require", "need"), True),
    (rf"(?i){_NAME} (?:must|should|has to|have to|needs to)(?: also)? be (?:set|given|provided|specified|defined|passed)", ("must", "should", "has to", "have to", "needs to"), True),
    (rf"(?i)\b(?:at least one|one|either|both) of {_NAME}[^.]{{0,80}} (?:must|should|has to|have to|needs to) be (?:set|given|provided|specified|defined|passed)", ("must", "should", "has to", "have to", "needs to"), True),
    (rf"(?i){_NAME} (?:is required|can't be [`'\"]?None|cannot be [`'\"]?None|must not be [`'\"]?None|is missing)", ("required", "be none", "be `none", "be 'none", "missing"), True),
)  # fmt: skip
"""Patterns of a name, words of which a message must hold one (in lower case) before its pattern is compiled, and whether the name is wanted."""


_NO_NAMES = frozenset(
    [
        "set",
        "is",
        "equal",
        "equals",
        "default",
        "defaults",
        "due",
        "up",
        "down",
        "go",
        "change",
        "changed",
        "it",
        "them",
        "this",
        "these",
        "that",
        "value",
        "values",
        "one",
        "both",
    ]
)


def _found(pattern: re.Pattern[str], message: str, *parts: str) -> Iterator[re.Match[str]]:
    """All matches. ``parts``: each match contains one of these texts; without one the pattern is not even compiled."""
    if any(part in message for part in parts):
        yield from pattern.finditer(message)


def settings(message: str, known: dict[str, Any]) -> Iterator[Remedy]:
    """Settings that a message asks for. ``known``: the values that arguments have, which are what is to be changed."""
    for found in islice(_found(_SETTING, message, "=", "to"), MAX_SETTINGS):
        name, value = found[1].rpartition(".")[2], found[2]
        if name.lower() in _NO_NAMES or _TELLS_MORE.match(name):
            continue
        before = message[max(0, found.start() - 60) : found.start()]
        if name in known and known[name] is not UNKNOWN and known[name] == literal(value):
            continue
        if _STATED.match(message, found.end()) or _COMPARED.search(before):
            continue
        if (
            not _WAY.search(before)
            and not _is_ordered(message, found.start())
            and (_PRESENT.search(before) or _NOT.search(before) or not _ASKS.search(_sentence(message, found.start())))
        ):
            continue
        yield Remedy("do-set", (("x", name), ("y", value)), f"{name}={value}", "message")
    for found in _found(_TO_WORD, message, " to `"):
        if literal(found[2]) is UNKNOWN:
            yield Remedy("do-set", (("x", found[1]), ("y", repr(found[2]))), f"{found[1]}={found[2]!r}", "message")
    for found in _found(_SWITCH, message, "<", ">"):
        value = literal(found[3])
        if _ASKS.search(message[max(0, found.start() - 30) : found.start()]) and isinstance(value, int):
            needed = value + 1 if found[2] == ">" else value - 1
            yield Remedy("do-set", (("x", found[1]), ("y", str(needed))), f"{found[1]}={needed}", "message")


def _is_ordered(message: str, at: int) -> bool:
    """Whether a setting stands behind "set", not in a sentence about one case of several."""
    before = message[max(0, at - 60) : at]
    is_case = re.search(r"\b(?:[Ii]f|[Uu]nless|[Oo]therwise)\b[^.]*$", message[max(0, at - MAX_SENTENCE) : at])
    return _ORDER.search(before) is not None and is_case is None


def commands(message: str) -> Iterator[Remedy]:
    """The commands that a message gives to install what is missing, and calls that it quotes as the way to go."""
    for found in _found(_INSTALL, message, "install "):
        command = found[1].rstrip(" .,:")
        yield Remedy("do-run", (("x", command),), command, "message")
    for found in _found(_REQUIRED, message, "nstall"):
        name = found[1] or found[2]
        if name.lower() not in _NO_NAMES and "pip" not in message:
            yield Remedy("do-install", (("x", name),), f"pip install {name.replace('_', '-')}", "message")
    for found in _found(_NEWER, message, "version of", "pgrade", "pdate"):
        yield Remedy(
            "do-run",
            (("x", f"pip install -U {found[1] or found[2]}"),),
            f"pip install -U {found[1] or found[2]}",
            "message",
        )
    for found in _found(_CALL, message, "("):
        if not _NOT.search(message[max(0, found.start() - 40) : found.start()]) and not _AGAINST.search(found[1]):
            yield Remedy("do-use", (("x", found[2]),), found[2], "message")
    for found in _found(_SUGGESTED, message, "uggested fix"):
        yield Remedy("do-use", (("x", found[1].strip()),), found[1].strip(), "message")
    for found in _found(_METHOD, message, "`.", "'."):
        yield Remedy("own-convert", (("x", found[1]),), found[1], "message")


def wanted(message: str) -> dict[str, bool]:
    """Names that a message wants to be given (True), or to be left out (False), where it says so of a name."""
    out: dict[str, bool] = {}
    lower = message.lower()
    for pattern, parts, is_wanted in _WANTED:
        for found in re.finditer(pattern, message) if any(part in lower for part in parts) else ():
            out.setdefault(found[1], is_wanted)
    return out


def allowed(message: str) -> list[Any]:
    """The values that a message says would do; empty where it lists none."""
    return written_out(message) or _named_values(message)


def written_out(message: str) -> list[Any]:
    """The values that a message lists in brackets or quotes."""
    for found in _found(_ALLOWED, message, *_CLOSING):
        start, close = found.start(1), _CLOSING[found[1]]
        end = message.find(close, start, start + MAX_LISTED)
        value = literal(_without_enums(message[start : end + 1])) if end > start + 1 else UNKNOWN
        least = 1 if _THERE.match(found[0]) else 2
        if value is not UNKNOWN and isinstance(value, (list, tuple, set, dict)) and len(value) >= least:
            return sorted(value, key=str) if isinstance(value, set) else list(value)
    found_quoted = _QUOTED.search(message)
    if found_quoted and not _NO_LIST.search(found_quoted[0]):
        return re.findall(r"['\"`]([^'\"`]+)['\"`]", found_quoted[1])
    return []


def _named_values(message: str) -> list[Any]:
    """Values that a message lists as mere words."""
    found_words = _LISTED.search(message)
    if found_words and not _NO_LIST.search(found_words[1]):
        return [word for word in re.findall(r"\w[\w.-]*\w|\w", found_words[1]) if word not in ("or", "and")]
    return []


def refused(message: str) -> list[str]:
    """Texts of a message that may be the value that was refused."""
    return [next(part for part in found if part).rstrip(".") for found in _BAD.findall(message)]


def present(message: str) -> dict[str, str]:
    """The settings that a message says are there, as source by name: "you set `x=True`"."""
    out: dict[str, str] = {}
    for found in islice(_found(_SETTING, message, "=", "to"), MAX_SETTINGS):
        before = message[max(0, found.start() - 60) : found.start()]
        if _PRESENT.search(before) and not _WAY.search(before):
            out.setdefault(found[1].rpartition(".")[2], found[2])
    return out


def replacements(message: str, texts: dict[str, str]) -> Iterator[tuple[Remedy, str]]:
    """An allowed value in place of the one that the message refuses, and the name that the user gave it under.

    ``texts``: the literals of the user's own lines by value, each with the keyword that it stands behind, "" without one.
    Where the message does not tell which of the allowed values was meant, it is one of them.
    """
    listed = allowed(message)
    for one in [*refused(message), *_used(message, texts, written_out(message))] if listed else ():
        if one in map(str, listed):
            continue
        if one in texts:
            good, name = nearest(one, listed), texts[one]
            if good is not UNKNOWN:
                code = f"{name}={good!r}" if name else repr(good)
                yield Remedy("do-replace", (("x", repr(one)), ("y", repr(good))), code, "message"), name
            else:
                values = (("x", name or repr(one)), ("y", choices(one, listed)))
                yield Remedy("do-one-of", values, f"{name}=..." if name else None, "message"), name
            return


def _used(message: str, texts: dict[str, str], listed: list[Any]) -> list[str]:
    """The one text of the user's own that a message repeats and does not allow; none where several are there."""
    if not listed:
        return []
    found = [
        text
        for text in texts
        if len(text) > 1
        and text not in map(str, listed)
        and re.search(rf"(?<![\w/.-]){re.escape(text)}(?![\w/-]|\.\w)", message)
        and not re.fullmatch(r"[\d.]+", text)
    ]
    return found if len(found) == 1 else []


def _without_enums(text: str) -> str:
    return re.sub(r"<\w+\.\w+: ('[^']*')>", r"\1", text)


def _sentence(message: str, at: int) -> str:
    start = max(message.rfind(". ", 0, at), message.rfind("\n", 0, at)) + 1
    end = message.find(". ", at)
    return message[start : end if end > 0 else len(message)]
