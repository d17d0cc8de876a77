"""What a message tells the user to do in a sentence: which argument to check, what to use instead, of which class a value
has to be, what a function has to return. Where nothing else is suggested, the instruction itself is shown as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import re2

from kb import lazy
from troubleshooter.explaining.divisors import largest_divisor
from troubleshooter.explaining.message import advice
from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, choices, literal, nearest

_CHECK = lazy.compile(
    r"\b(?:[Cc]heck|[Vv]erify|[Aa]djust|[Cc]orrect)(?: that)?(?: the| your)?(?: value of)? [`'\"]?((?:\w+\.)*[a-z]\w*_\w+|(?<=[`'\"])[\w.]+)[`'\"]?(?![\w(=]|\.\w)"
)
_CHECK_WORDS = lazy.compile(
    r"\b(?:[Cc]heck|[Vv]erify)(?: the| your) ([a-z]{2,20}(?: [a-z]{2,20}){1,2}?)\b(?= (?:and|or|in|of|for|is|are)\b|[.,;]|$)"
)
"""An argument that a message names as words: "check the target modules"."""
_INSTEAD = lazy.compile(
    r"\b[Uu]s(?:e|ing) (?:the )?(?:[`'\"]([A-Za-z_][\w.]{2,60}(?:\([^`'\"\n]{0,60}\))?)[`'\"]|([A-Za-z_][\w.]{1,60}\([^()\n]{0,40}\)))(?: \w+)? instead\b"
)
_CALLED = lazy.compile(
    r"\b(?:[Cc]all(?:ing)?|[Uu]s(?:e|ing)|[Rr]un) ([A-Za-z_]\w*(?:\.\w+){1,4}\(\))(?! (?:is|was|has|with))"
)
_TO_ARGUMENT = lazy.compile(
    r"\b(?:pass|give|provide)\b[^.;]{1,60} (?:to|as|via|through) the `(\w+)` (?:argument|parameter)"
)
_CLASS = r"(?:of type |an? |the |instance of |object of |non-empty |single )*[`'\"]?((?:\w+\.)*(?:str|string|int|integer|float|bool|boolean|list|tuple|dict|dictionary|[A-Z]\w+[a-z]\w*))[`'\"]?(?![\w(]| of\b)"
_MUST_BE = lazy.compile(
    rf"(?<!\w)[`'\"]?(\w{{1,80}})[`'\"]?(?: argument| parameter| input| value)? (?:must|should|has to|needs to) be {_CLASS}"
)
_EXPECTED = lazy.compile(rf"[Ee]xpected [`'\"](\w+)[`'\"] to be {_CLASS}")
_NO_CLASS = frozenset(("None", "True", "False", "Either", "One", "If", "Not", "Set"))
_PLAIN = {"string": "str", "integer": "int", "boolean": "bool", "dictionary": "dict"}
_RETURNS = lazy.compile(
    r"(?:[Mm]ake sure (?:that )?|[Ee]nsure (?:that )?)?\b[`'\"]?(\w{1,80})[`'\"]?(?: function)? (?:(?:must|should|has to|needs to) return|returns) ([^.;\n]{3,80})"
)
_SENTENCE = lazy.compile(r"(?<=[.!:;]) +|\n+")
_EXAMPLE = lazy.compile(r",? ?\(?(?:e\.g|i\.e|for example|such as)\W*$")
_CASE = lazy.compile(r"(?i)(?:if|when|otherwise|unless|in case)\b")
"""How a sentence begins that speaks of one case of several."""
_ORDERS = lazy.compile(
    r"(?:^|, )((?:[Pp]lease |[Yy]ou (?:should|must|need to|have to) |[Mm]ake sure |[Ee]nsure |[Tt]ry |[Cc]onsider |[Uu]se |[Ss]et |[Pp]ass |[Pp]rovide |[Ss]pecify |[Cc]all |[Ii]ncrease |[Dd]ecrease |[Rr]educe )\S)"
)
_NO_ORDER = lazy.compile(
    r"(?i)\b(?:valid|correct|proper|properly|report|issue|bug|documentation|docs?|refer|see|https?|more (?:details|information)|traceback|above|below|following|feature request|contact|if (?:needed|necessary))\b"
)
_REFUSES = lazy.compile(
    r"(?i)\b(?:not supported|unsupported|not (?:a )?valid|invalid|not recogni[sz]ed|unknown|cannot be|not compatible|incompatible)\b"
)
_DIVISIBLE = lazy.compile(
    r"(?<!\w)[`'\"]?(\w{1,80})[`'\"]?(?: \([^()]{0,20}\))? (?:must|should|has to|needs to) be (?:evenly )?(?:divisible by|a (?:round )?multiple of)(?: the)? [`'\"]?(\w{1,80})(?![\w\[(]|\.\w)"
)
_CHOOSE = lazy.compile(r"(?i)\b(?:one of|choose|select|must be|should be)\b(?! in the range)")
_UNSET = lazy.compile(
    r"\b(?:[Uu]nset|[Rr]emove)\b(?: the| these| this| your)?(?: [\w-]+){0,2}:? ((?:[`'\"]?\w+[`'\"]?(?:, | and )?){1,6})"
)
_POSSIBLE = lazy.compile(r"(?i)\b(?:possible|allowed|supported|valid|available|choose|one of)\b")
_QUOTES = "'\""
MAX_ORDER = 160
"""Characters of an instruction that is shown as it stands."""


def one_of(message: str, compared: Iterable[str]) -> Iterator[Remedy]:
    """The texts that a message lists as what would do, for the one argument of those ``compared`` that it names."""
    listed = advice.written_out(message) if _CHOOSE.search(message) else []
    named = {name for name in compared if names(message, name)}
    if len(named) == 1 and len(listed) > 1 and all(isinstance(one, str) for one in listed):
        [name] = named
        yield Remedy("do-one-of", (("x", name), ("y", choices(UNKNOWN, listed))), f"{name}=...", "message")


def listed_settings(message: str, passed: Mapping[str, str]) -> Iterator[Remedy]:
    """The values that a message lists as settings of one argument of the user's own: "possible are `x="a"`, `x="b"`"."""
    for name, text in passed.items():
        given = literal(text)
        if not isinstance(given, str) or message.count(name) < 3 or not _POSSIBLE.search(message):
            continue
        found = re.findall(rf"(?<!\w){re.escape(name)}=['\"]?([\w.+-]{{1,60}})", message)
        several = [one for one in dict.fromkeys(found) if one != given]
        if given not in found or len(several) < 2:
            continue
        meant = nearest(given, several)
        if meant is not UNKNOWN:
            yield Remedy("do-set", (("x", name), ("y", repr(meant))), f"{name}={meant!r}", "message")
        else:
            yield Remedy("do-one-of", (("x", name), ("y", choices(given, several))), f"{name}=...", "message")


def unset(message: str, passed: Mapping[str, str]) -> Iterator[Remedy]:
    """The arguments of the user's own that a message says to leave out, by their names."""
    for found in _UNSET.finditer(message) if "nset" in message or "emove" in message else ():
        for name in re.findall(r"\w+", found[1]):
            if name in passed:
                yield Remedy("do-leave", (("x", name),), f"{name}=None", "message")


def instructions(
    message: str,
    people: Mapping[str, Origin],
    passed: Mapping[str, str],
    asked: Iterable[str] = (),
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Remedy]:
    """What a message says to do, the surest first.

    ``people``: the origins behind the condition; ``passed``: the user's own arguments; ``asked``: names whose class it asks for.
    ``aliases``: the user's names of what the library calls otherwise.
    """
    known = {*people, *passed, *asked}
    if "instead" in message:
        for found in _INSTEAD.finditer(message):
            way = found[1] or found[2]
            if re.search(r"\b[Ii]f\b[^.]*$", message[: found.start()]):  # for another case, perhaps
                continue
            yield _give(way) if way in people else Remedy("do-use", (("x", way),), way, "message")
    if "argument" in message or "parameter" in message:
        for found in _TO_ARGUMENT.finditer(message):
            yield _give(found[1])
    if "()" in message:
        for found in _CALLED.finditer(message):
            yield Remedy("do-use", (("x", found[1]),), found[1], "message")
    yield from _classes(message, known, passed)
    yield from _divisible(message, {*known, *aliases}, passed, aliases)
    if "return" in message:
        for found in _RETURNS.finditer(message):
            if found[1] in known:
                yield Remedy("do-return", (("x", found[1]), ("y", found[2].strip())), f"{found[1]}=...", "message")
    for name, is_wanted in advice.wanted(message).items():
        if is_wanted and name in people and people[name].passed is not True and _is_missing(people[name]):
            yield _give(name)
    for found in _CHECK.finditer(message) if "heck" in message or "erify" in message or "djust" in message else ():
        name = found[1].rpartition(".")[2]
        yield Remedy("do-check", (("x", name),), f"{name}=...", "message")
    for found in _CHECK_WORDS.finditer(message) if "heck" in message or "erify" in message else ():
        name = found[1].replace(" ", "_")
        if name in known:
            yield Remedy("do-check", (("x", name),), f"{name}=...", "message")


def refused(message: str, passed: Mapping[str, str]) -> Iterator[Remedy]:
    """The one argument of the user's own call that a message names and calls unsupported or invalid."""
    if not _REFUSES.search(message):
        return
    for name, value in passed.items():
        if f"{name}={value}" in message or f"{name}=torch.{value.strip(_QUOTES)}" in message:
            yield Remedy("do-other", (("x", name), ("y", value)), f"{name}=...", "message")
            return
    named = [
        name for name in passed if len(name) > 2 and (names(message, name) or names(message, name.removesuffix("s")))
    ]
    if len(named) == 1:
        yield Remedy("do-check", (("x", named[0]),), f"{named[0]}=...", "message")


def quoted(message: str) -> Iterator[Remedy]:
    """The first sentence of a message that tells what to do, as it stands."""
    for sentence in _SENTENCE.split(message):
        found = None if _CASE.match(sentence) else _ORDERS.search(sentence)
        text = _EXAMPLE.sub("", sentence[found.start(1) :]).strip(" .,;:!\n") if found is not None else ""
        if 15 < len(text) <= MAX_ORDER and not _NO_ORDER.search(text):
            yield Remedy("do-said", (("x", text),), None, "message")
            return


def repeated(message: str, passed: Mapping[str, str]) -> Iterator[Remedy]:
    """A list of the user's own that holds a value twice, where the message speaks of that."""
    if not re.search(r"(?i)duplicat|\btwice\b|\bunique\b|more than once|all be different|\brepeated\b", message):
        return
    for name, text in passed.items():
        value = literal(text)
        if not names(message, name) and not names(message, name.removesuffix("s")):
            continue
        if isinstance(value, (list, tuple)) and (once := _once(value)) is not None:
            yield Remedy("do-set", (("x", name), ("y", repr(once))), f"{name}={once!r}", "message")
        elif isinstance(value, dict) and _once(list(value.values())) is not None:
            yield Remedy("do-distinct", (("x", name),), f"{name}=...", "message")


def _once(several: list[object] | tuple[object, ...]) -> list[object] | None:
    """The same without what is there twice; None where nothing is."""
    try:
        once = list(dict.fromkeys(several))
    except TypeError:
        return None
    return once if len(once) < len(several) else None


def _give(name: str) -> Remedy:
    return Remedy("do-pass", (("x", name),), f"{name}=...", "message")


def _is_missing(origin: Origin) -> bool:
    return origin.value in (None, "None") and origin.kind in ("argument", "option")


def _classes(message: str, known: set[str], passed: Mapping[str, str]) -> Iterator[Remedy]:
    """The class that a message says an argument has to be of."""
    if " be " not in message:
        return
    for pattern in (_MUST_BE, _EXPECTED):
        for found in pattern.finditer(message):
            name, kind = found[1], found[2].rpartition(".")[2]
            if name not in known or kind in _NO_CLASS:
                continue
            kind = _PLAIN.get(kind, kind)
            value = literal(passed.get(name))
            if type(value).__name__ == kind:  # it is one, and wrong in another way
                continue
            code = (
                f"{name}={kind}({passed[name]})"
                if isinstance(value, (str, int, float)) and kind in ("str", "int", "float")
                else None
            )
            yield Remedy("do-class", (("x", name), ("y", kind)), code or f"{name}={kind}(...)", "message")


def respelled(message: str, texts: Mapping[str, str]) -> Iterator[Remedy]:
    """A text of the user's own without the characters that a message refuses. ``texts``: each with its keyword, "" without one."""
    mine = [text for text in texts if len(text) > 2 and re.search(rf"['\"`]{re.escape(text)}['\"`]", message)]
    if len(mine) != 1 or not re.search(r"(?i)\bcharacters?\b|\bmatch\b", message):
        return
    text, pattern = mine[0], re.search(r"['\"`](\^[^'\"`\n]{3,60}\$)['\"`]", message)
    bad = re.search(r"(?i)characters?\b[^'\"]{0,40}['\"]([^\w\s'\"]{1,20})['\"]", message)
    if pattern is None and bad is None:
        return
    kind = rf"[{re.escape(bad[1])}]+" if bad is not None else r"\W+"
    better = re.sub(kind, "_", text)
    try:
        fits = pattern is None or (len(text) < 100 and re2.fullmatch(pattern[1], better) is not None)
    except re2.error:
        return
    if fits and better != text:
        values = (("x", repr(text)), ("y", repr(better)))
        yield Remedy("do-replace", values, f"{texts[text]}={better!r}" if texts[text] else repr(better), "message")


def _divisible(
    message: str, known: set[str], passed: Mapping[str, str], aliases: Mapping[str, str]
) -> Iterator[Remedy]:
    """What a message says has to be a multiple of what, where it names both as the user's arguments."""
    for found in _DIVISIBLE.finditer(message) if "divisible" in message or "multiple" in message else ():
        large, small = (aliases.get(name, name) if name not in passed else name for name in found.groups())
        whole, part = literal(passed.get(large)), literal(passed.get(small))
        if isinstance(whole, int) and isinstance(part, int) and whole > 0 and part > 0 and whole % part:
            if (good := largest_divisor(whole, part)) is not None:
                yield Remedy("do-set", (("x", small), ("y", str(good))), f"{small}={good}", "message")
        elif {found[1], found[2]} <= known:
            needed = f"{large} % {small} == 0"
            yield Remedy("do-pair", (("x", large), ("y", needed)), f"{large}=...", "message")
