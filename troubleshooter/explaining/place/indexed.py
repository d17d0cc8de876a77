"""The place of a failure in the shipped index of messages, for what has no source here; and which releases print a message.

A stored place is written out as the source of one small function with its parameters and the assignments that its conditions
speak of. So the same code follows its names as it does in a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kb.index.place import MessagePlace
from troubleshooter.explaining.origin import is_own
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.sources import SourceFile
from troubleshooter.observe.model import Failure, Frame
from troubleshooter.paths import below_packages

if TYPE_CHECKING:
    from kb.index.message import IndexedMessage
    from kb.index.record import StoredSite
    from kb.index.store import MessageIndex

LEAST_ALONE = {"whole": 20, "beginning": 40}
"""Without a frame: the least number of literal characters that must agree, for a whole message and for one that is cut."""
LEAST_COMPLETE = 12
"""The same for a message without values: every one of its characters agrees."""
END = 10**6
"""A line below everything in a function that was written out."""


class KnownMessage(NamedTuple):
    """A message of the index: where it may come from, and which releases print it (None: not known, or still there)."""

    context: NameContext
    place: MessagePlace
    frame: Frame
    places: int
    first: str | None
    last: str | None


def known(failure: Failure) -> KnownMessage | None:
    """What the index knows of a failure's message; None where no index is installed or nothing in it fits.

    The innermost frame of a library says which package and function to look in. Without one, the message must be whole.
    """
    index = open_index()
    if index is None or not failure.message:
        return None
    at = next((n for n in range(len(failure.frames) - 1, -1, -1) if failure.frames[n].file.endswith(".py")), None)
    frame = failure.frames[at] if at is not None else None
    below = _below(frame, index) if frame is not None else ""
    if frame is not None and not below and is_own(frame):
        return None
    package = below.partition("/")[0].removesuffix(".py") or None
    function = frame.function if frame is not None else None
    message = failure.message.rstrip(" .…") if failure.message.endswith(("...", "…")) else failure.message
    found = index.find(message, failure.exception or None, package, function)
    several = _in_function(found, below, function) if below else _alone(found)
    if not several or several[0][0].kind == "compiled":
        return None
    best, site = several[0]
    context = _written(site, at)
    place = MessagePlace(
        "raise", best.exception, None, best.template, site.file, site.function, site.line, site.line, site.guards,
        site.parameters, site.bindings,
    )  # fmt: skip
    shown = frame or Frame(site.file, 0, site.function.rpartition(".")[2])
    return KnownMessage(
        context, place, shown, 1 if below else len({(one.file, one.function) for _, one in several}),
        None if best.first_is_oldest else best.releases[0][0], None if best.last_is_newest else best.releases[-1][1],
    )  # fmt: skip


def _below(frame: Frame, index: MessageIndex) -> str:
    """The path of a frame's file as the index has it: below site-packages, or below a clone of a package ("src/trl/…")."""
    if not is_own(frame):
        return below_packages(frame.path)
    parts = frame.path.split("/")
    at = next((n for n in range(len(parts) - 2, -1, -1) if index.package(parts[n]) is not None), None)
    return "/".join(parts[at:]) if at is not None else ""


def _in_function(
    found: Sequence[IndexedMessage], file: str, function: str | None
) -> list[tuple[IndexedMessage, StoredSite]]:
    """The messages of the function that a frame names."""
    return [
        (one, site)
        for one in found
        for site in one.sites
        if site.file == file and site.function.rpartition(".")[2] == function
    ]


def _alone(found: Sequence[IndexedMessage]) -> list[tuple[IndexedMessage, StoredSite]]:
    """Without a frame: all places of the messages that fit best, if their text is long enough to be known by it alone."""
    known = [one for one in found if one.sites and one.quality >= _least(one)]
    best = known[0] if known else None
    return [
        (one, site)
        for one in known
        if best is not None and (one.extent, one.quality, one.kind) == (best.extent, best.quality, best.kind)
        for site in one.sites
    ]


def _least(one: IndexedMessage) -> int:
    """How many literal characters must agree."""
    if one.extent == "beginning" and _ends_at_hole(one):
        return LEAST_ALONE["whole"]  # what is missing is only a value
    if one.extent == "whole" and not one.values:
        return LEAST_COMPLETE
    return LEAST_ALONE.get(one.extent, END)


def _ends_at_hole(one: IndexedMessage) -> bool:
    """Whether a message that is cut ends just before a value of its template, such as a list on the lines below."""
    filled = sum(value is not None for _, value in one.values)
    text = 0
    for piece in one.template:
        if not isinstance(piece, str):
            if not filled:
                return one.quality == text
            filled -= 1
        else:
            text += sum(not letter.isspace() for letter in piece)
    return False


def open_index() -> MessageIndex | None:
    """The shipped index; None where it is not installed or cannot be read."""
    from kb.index.message import IndexUnreadable
    from kb.index.store import shipped

    try:
        return shipped()
    except IndexUnreadable:
        return None


def _written(site: StoredSite, at: int | None) -> NameContext:
    names = site.function.split(".")
    owner = names[-2] if len(names) > 1 else ""
    fields = names[-1] == "__post_init__"
    text = "\n".join(_lines(site, owner, names[-1], fields=fields))
    source = SourceFile(site.file, site.file, text)
    node, function = source.around(len(source.lines))
    return NameContext(source, node, function, END, at)


def _lines(site: StoredSite, owner: str, name: str, *, fields: bool) -> Iterator[str]:
    """The function as source. All parameters are keywords: the index does not keep their order."""
    plain = [one for one in site.parameters if not one.name.startswith("*")]
    rest = [one.name for one in site.parameters if one.name.startswith("**")]
    given = [_parameter(one.name, one.annotation, one.default) for one in plain]
    indent = ""
    if owner:
        yield f"class {owner}:"
        indent = "    "
    if fields and owner:
        yield from (f"    {text if ':' in text else text.replace(' =', ': object =', 1)}" for text in given)
        given, rest = [], []
    inside = (["self"] if owner else []) + (["*", *given] if given else []) + rest
    yield f"{indent}def {name}({', '.join(inside)}):"
    for binding in reversed(site.bindings):
        expression = binding.expression.removeprefix("part of ").removeprefix("each of ")
        if _parses(f"{binding.name} = {expression}"):
            yield f"{indent}    {binding.name} = {expression}"
    yield f"{indent}    pass"


def _parameter(name: str, annotation: str | None, default: str | None) -> str:
    text = name + (f": {annotation}" if annotation and _parses(f"x: {annotation}") else "")
    return text + (f" = {default}" if default is not None and _parses(f"x = {default}") else "")


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return "\n" not in text
