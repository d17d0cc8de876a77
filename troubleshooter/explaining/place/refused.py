"""A value that a library refused by itself: it is no member of an enumeration, or no key of a table or of a row of data.

Python's message shows the value, and the library's line what was asked for it. The argument is what that line got it from,
and what the source accepts in its place is suggested.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import set_to, settable
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.place.conditions import Formula, atoms
from troubleshooter.explaining.place.holding import Subjects
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, choices, literal, nearest
from troubleshooter.explaining.source import accepted, own_data
from troubleshooter.explaining.source.annotations import listed
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext, parameters, references
from troubleshooter.explaining.source.options import is_holder
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_lines import keywords_of
from troubleshooter.explaining.source.shown import calls, code, marked, parsed
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure, Frame

_MEMBER = lazy.compile(r"^(?P<v>'[^'\n]{1,120}'|[\w.+-]{1,120}) is not a valid (?P<c>[A-Z]\w{1,80})(?=$|[,.\s])")
_COLUMN = lazy.compile(
    r"^Column '(?P<k>[^'\n]{1,120})' (?:doesn't exist|does not exist|not (?:in|found in) the dataset)"
)
_PASSES_ON = frozenset(("__getitem__", "__missing__", "__getattr__", "__call__", "__new__"))
"""Functions that only look up what the frame above them asks for."""
LEAST_TEXT = 3
"""Characters of a text that is compared with others by likeness."""
_ROWS = ("datasets/formatting/", "datasets/arrow_dataset.py", "pandas/")
"""Files of packages whose keys are the columns of a data set."""


def explain(failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation of a value that a library's line refused; None where the failure is another one."""
    if failure.type == "ValueError" and (found := _MEMBER.match(failure.message)):
        return _member(trace, found["v"].strip("'"), found["c"], lang)
    if failure.type == "ValueError" and (found := _COLUMN.match(failure.message)):
        return _column(trace, found["k"], lang)
    if failure.type == "KeyError" and isinstance(key := literal(failure.message), str):
        return _key(trace, key, lang)
    return None


def _member(trace: Trace, value: str, name: str, lang: str) -> FoundPlace | None:
    """``Mode(value)``: the line that made a member of an enumeration."""
    for at in range(len(trace.frames) - 1, -1, -1):
        for call in calls(code(trace.frames[at])):
            if ast.unparse(call.func).rpartition(".")[2] != name or len(call.args) != 1:
                continue
            context = trace.context(at)
            origins = (
                [one for part in references(call.args[0], context) for one in trace.origins(part, context)]
                if context
                else []
            )
            good = accepted.members(name, context, trace.sources) if context else []
            people = _named(trace, origins, value)
            return FoundPlace(
                trace.frames[at], say("ref-member", lang, x=value, c=name), people, list(_instead(people, value, good)), "source"
            )  # fmt: skip
    return None


def _key(trace: Trace, key: str, lang: str) -> FoundPlace | None:
    """``table[key]`` in a library's line."""
    at = len(trace.frames) - 1
    while at > 0 and trace.frames[at].function.rpartition(".")[2] in _PASSES_ON and not is_own(trace.frames[at - 1]):
        at -= 1
    frame = trace.frames[at]
    if is_own(frame):
        return None
    asked = _asked(marked(frame), key) or _asked(code(frame), key)
    if asked is None:
        return None
    context = trace.context(at)
    holder, wanted = asked
    is_row = any(part in one.path for one in trace.frames[at:] for part in _ROWS) or _is_item(holder, trace, at)
    if isinstance(wanted, ast.Constant):  # the library itself asks for it
        return _needed(trace, frame, key, lang) if is_row else _own_key(trace, at, holder, key, lang)
    origins = trace.origins(wanted, context) if context is not None else []
    good = accepted.keys(holder, context, trace.sources) if context is not None and not is_row else []
    people = _named(trace, origins, key)
    if context is not None:
        people = [one._replace(lost=False) if one.lost and _is_option(one.name, context) else one for one in people]
    told = say("ref-row" if is_row else "ref-key", lang, k=key, x=ast.unparse(holder))
    fixes = list(_instead(people, key, good or (own_data.columns(trace.own_sources) if is_row else [])))
    if not fixes and is_row:
        fixes = [
            Remedy("ref-name-column", (("x", one.name),), f"{one.name}=...", "rule") for one in settable(people)[:1]
        ]
    return FoundPlace(frame, told, people, fixes, "source") if people or good else None


def _is_item(holder: ast.expr, trace: Trace, at: int) -> bool:
    """Whether a data set gives a function what it is asked for: the function of ``map`` gets one row as its first argument."""
    context = trace.context(at)
    if context is None or context.function is None or not isinstance(holder, ast.Name):
        return False
    is_called_by_rows = at > 0 and any(part in trace.frames[at - 1].path for part in _ROWS)
    return is_called_by_rows and holder.id in parameters(context.function)[:1]


def _own_key(trace: Trace, at: int, holder: ast.expr, key: str, lang: str) -> FoundPlace | None:
    """A key that the library asks a dictionary of the user's own for: what they write in its place."""
    context = trace.context(at)
    origins = [one for one in trace.origins(holder, context) if one.passed and one.value] if context is not None else []
    for origin in origins[:1]:
        source = trace.own_sources[0] if trace.own_sources else None
        values = own_data.bound(origin.value or "", source) if source is not None else []
        shown = literal(origin.value)
        if shown is not UNKNOWN and not values:
            values = [ast.parse(origin.value or "", mode="eval").body]
        there = dict(written for value in values for written in own_data.written_keys(value))
        if not there or key in there:
            continue
        meant = nearest(key, list(there))
        told = say("ref-own-key", lang, k=key, x=origin.name, have=", ".join(map(repr, there)))
        if meant is UNKNOWN:
            fix = Remedy("ref-give-key", (("x", origin.name), ("y", repr(key))), f"{key!r}: ...", "rule")
            return FoundPlace(trace.frames[at], told, [origin, Origin(key, "data")], [fix], "source")
        place = file_line(source.path, there[meant]) if source is not None and values else ""
        people = [Origin(meant, "data", "", repr(meant), True, place=place), origin]
        fix = Remedy("do-replace", (("x", repr(meant)), ("y", repr(key))), f"{key!r}: ...", "rule")
        return FoundPlace(trace.frames[at], told, people, [fix], "source")
    return None


def _column(trace: Trace, key: str, lang: str) -> FoundPlace | None:
    """A column that a library asked a data set for; None where the user's own line did."""
    at = len(trace.frames) - 1
    while at > 0 and any(part in trace.frames[at].path for part in _ROWS):
        at -= 1
    frame = trace.frames[at]
    is_asked = any(key == part.slice.value for part in _written(code(frame)) if isinstance(part.slice, ast.Constant))
    return _needed(trace, frame, key, lang) if is_asked and not is_own(frame) else None


def _written(text: str) -> list[ast.Subscript]:
    tree = parsed(text)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)] if tree is not None else []


def _needed(trace: Trace, frame: Frame, key: str, lang: str) -> FoundPlace:
    """A column that the library itself asks for by name."""
    data = _data(trace)
    change = f'rename_column("...", {key!r})'
    fix = Remedy("ref-column", (("x", key), ("y", change)), f"{data or 'dataset'}.{change}", "rule")
    people = [Origin(key, "data"), *([Origin(data, "argument", passed=True)] if data else [])]
    return FoundPlace(frame, say("ref-needs", lang, k=key), people, [fix], "source")


def _asked(text: str, key: str) -> tuple[ast.expr, ast.expr] | None:
    """Holder and key of the one look-up in a line that can have raised the message."""
    found = [
        (node.value, node.slice)
        for node in _written(text)
        if not isinstance(node.slice, ast.Constant) or node.slice.value == key
    ]
    return found[0] if len(found) == 1 else None


def _named(trace: Trace, origins: Sequence[Origin], value: str) -> list[Origin]:
    """The origins, the user's own argument that has this very value first."""
    mine = keywords_of(trace, value)
    places = {}
    for one in trace.own_code.given if len(value) >= LEAST_TEXT else ():
        is_its = literal(one.text) == value and one.name in {origin.name for origin in origins}
        if one.name not in mine and is_its and trace.own_code.one(one.name) is not None:
            mine[one.name], places[one.name] = value, "" if trace.own_code.is_in_line(one) else one.place
    known = {one.name for one in origins}
    out = [
        one._replace(
            kind="argument",
            value=repr(mine[one.name]),
            passed=True,
            lost=False,
            exact=True,
            place=places.get(one.name, ""),
        )
        if one.name in mine
        else one
        for one in origins
    ]
    return [*(one for one in out if one.name in mine), *(Origin(name, "argument", "", repr(mine[name]), True) for name in mine if name not in known),
            *(one for one in out if one.name not in mine)]  # fmt: skip


def _instead(people: Sequence[Origin], value: str, good: Sequence[str]) -> Iterator[Remedy]:
    """An accepted value for the argument that has the refused one."""
    able = settable([one if one.passed is not True else one._replace(exact=True) for one in people])
    if not good or not able:
        return
    origin = able[0]
    given = literal(origin.value)
    written = given if isinstance(given, str) else value
    meant = nearest(written, good)
    small = isinstance(written, str) and written.islower() and value.isupper()  # the library makes capitals of it
    if meant is not UNKNOWN and given is not UNKNOWN and not isinstance(given, str):  # it is a part of the value
        yield Remedy("do-replace", (("x", repr(written)), ("y", repr(meant))), repr(meant))
    elif meant is not UNKNOWN:
        yield set_to(origin, repr(meant.lower() if small else meant))
    else:
        listed = [one.lower() for one in good] if small else list(good)
        yield Remedy("do-one-of", (("x", origin.name), ("y", choices(written, listed))), f"{origin.name}=...")


def compared(people: Sequence[Origin], context: NameContext, message: str) -> Iterator[Remedy]:
    """The text that was clearly meant, of those that the function compares an argument with, in place of the one that a message shows."""
    for origin in settable(list(people)) if context.function is not None else ():
        value = literal(origin.value)
        if not isinstance(value, str) or len(value) < LEAST_TEXT or value not in message or context.function is None:
            continue
        several = accepted.compared_texts(origin.expression.removeprefix("self.") or origin.name, context.function)
        meant = nearest(value, several) if several and value not in several else UNKNOWN
        if meant is not UNKNOWN:
            yield set_to(origin, repr(meant))


def listed_values(people: Sequence[Origin], message: str) -> Iterator[Remedy]:
    """What the annotation of an argument lists, in place of a value that it does not list and that the message shows."""
    for origin in settable(list(people)):
        value, good = literal(origin.value), listed(origin.annotation)
        if not good or value is UNKNOWN or value in good or str(value) not in message:
            continue
        texts = [one for one in good if isinstance(one, str)]
        meant = nearest(value, texts) if isinstance(value, str) else UNKNOWN
        if meant is not UNKNOWN:
            yield set_to(origin, repr(meant))
        else:
            yield Remedy("do-one-of", (("x", origin.name), ("y", choices(value, good))), f"{origin.name}=...")


def open_ended(remedy: Remedy, near: Formula, context: NameContext, subjects: Subjects) -> Remedy:
    """A suggestion of one value with the others that a condition admits, where it asks only how a text begins or ends."""
    ends = [text for atom in atoms(near) if not atom.holds for text in _ends(atom.expression, remedy.subject, subjects)]
    if remedy.key != "do-set" or not ends or not isinstance(remedy.value, str):
        return remedy
    function = context.function
    others = accepted.compared_texts(remedy.subject, function) if function is not None else []
    several = list(dict.fromkeys([remedy.value, *others, *ends]))
    told = (("x", remedy.subject), ("y", choices(UNKNOWN, several)))
    return remedy._replace(key="do-one-of", values=told, code=f"{remedy.subject}=...")


def _ends(node: ast.expr, name: str, subjects: Subjects) -> Iterator[str]:
    """``…_only`` of ``x.endswith("_only")``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and subjects(node.func.value) == name:
        text = literal(ast.unparse(node.args[0])) if len(node.args) == 1 else UNKNOWN
        if isinstance(text, str) and node.func.attr in ("startswith", "endswith"):
            yield f"{text}…" if node.func.attr == "startswith" else f"…{text}"


def _data(trace: Trace) -> str:
    """The keyword under which the user's own call passes data; "" where it shows none."""
    for at in reversed(trace.own):
        for call in calls(code(trace.frames[at])):
            for keyword in call.keywords:
                if keyword.arg in ("train_dataset", "dataset", "eval_dataset"):
                    return ast.unparse(keyword.value) if isinstance(keyword.value, ast.Name) else keyword.arg
    return ""


def _is_option(name: str, context: NameContext) -> bool:
    """Whether the file reads a name of an object of settings, so that it is one that a user sets."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and is_holder(ast.unparse(node.value).rpartition(".")[2])
        for node in ast.walk(context.source.tree)
    )
