"""An argument of the user's own call that is of another class than the library's code needs.

Python's message tells the class (`'str' object has no attribute 'items'`), and the user's line shows a value of that class where
the function's annotation admits none; or the failing line compares it with a number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import set_to, settable
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.own import held, told_class
from troubleshooter.explaining.own.own_values import function_of, named_values
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal
from troubleshooter.explaining.source.annotations import admits, written_out
from troubleshooter.explaining.source.names import signature
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_lines import passed_values
from troubleshooter.explaining.source.shown import code, marked, parsed
from troubleshooter.explaining.source.sources import Function, SourceFile
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_COMPARED = lazy.compile(
    r"^(?:'[<>]=?' not supported between instances of|unsupported operand type\(s\) for [^\s:]{1,12}:) '(?P<a>\w{1,40})' and '(?P<b>\w{1,40})'"
)
_NUMBER = lazy.compile(r"^(?:must be real number, not str|'str' object cannot be interpreted as an integer)")
_OBJECT = lazy.compile(
    r"^'(?P<t>str|int|float|list|dict|tuple|bool)' object (?:has no attribute|is not (?:callable|iterable|subscriptable|a mapping)|does not support)"
)
_WANTED = (
    lazy.compile(r"^Can't extract `(?P<t>str|int|float|list|dict|tuple|bool)` to `(?P<u>\w{1,20})`"),
    lazy.compile(
        r"(?:^|: )'(?P<t>str|int|float|list|dict|tuple|bool)' object (?:is not an instance of|cannot be (?:converted to|cast as)) '(?:Py)?(?P<u>\w{1,20})'"
    ),
    lazy.compile(r"(?:^|: )'(?P<t>str|float|list|dict|tuple)' object cannot be interpreted as an (?P<u>integer)"),
    lazy.compile(
        r"must be (?:a )?(?:tuple|list) of (?P<u>int|float)s?, but (?:found element|got) of type (?P<t>str|float|list|dict|tuple)\b"
    ),
)
"""What compiled code says of one value: its class, and the class that was wanted."""
_ARGUMENT = lazy.compile(r"^argument '(?P<x>\w{1,60})': Expected (?P<u>[^\n]{3,160})$")
"""What the compiled code of `tokenizers` says of an argument."""
_PROCESSING = lazy.compile(r"\nwhile processing '(?P<x>\w{1,60})'")
_CLASSES = {
    "vec": "sequence",
    "sequence": "sequence",
    "integer": "int",
    "string": "str",
    "list": "list",
    "dict": "dict",
    "int": "int",
    "float": "float",
    "bool": "bool",
}
_ITERABLE = lazy.compile(r"^'(?P<t>[A-Z]\w{1,80})' object is not iterable")
_JOINED = lazy.compile(r"^can only concatenate list \(not \"(?P<t>[A-Z]\w{1,80})\"\) to list$")
_PARTS = ("parameters", "params")
"""Arguments that take the parameters of a module."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that suggests the class, where it suggests nothing yet, or only to check an argument."""
    message = failure.message
    if found is None and (asked := _ARGUMENT.match(message)) is not None:
        origin = Origin(asked["x"], "argument", "", passed_values(trace).get(asked["x"]), True)
        fix = Remedy("do-class", (("x", origin.name), ("y", asked["u"])), f"{origin.name}=...", "message")
        return FoundPlace(None, say("ref-form", lang, x=origin.name, u=asked["u"]), [origin], [fix], "rule")
    weak = found.remedies if found is not None else []
    if found is not None and told_class.stored_text(found, message):
        return found
    if any(one.key != "do-check" for one in weak) or (
        found is not None and told_class.explained(found, failure, trace)
    ):
        return found
    if failure.type not in ("TypeError", "AttributeError"):
        return found
    if (of_entry := held.explained(found, message, trace, lang)) is not None:
        return of_entry
    if found is not None:
        found.remedies = []
    if found is not None and (number := _number_wanted(message)):
        found.origins, found.remedies = _as_number(found, number, message, trace)
    elif found is not None and (said := _ITERABLE.match(message)) and said["t"] != "NoneType":
        found.remedies = list(_parameters(found.origins)) or list(_one_of_many(found.origins, trace, "list"))
    elif found is not None and _JOINED.match(message):
        found.remedies = list(_one_of_many(found.origins, trace))
    if (found is None or not found.remedies) and (wanted := _class_wanted(message)):
        said = _PROCESSING.search(message)
        found = _only_value(found, *wanted, trace, said["x"] if said is not None else "", lang)
    if (found is None or not found.remedies) and (said := _OBJECT.match(message)):
        found = _by_annotation(found, said["t"], trace)
    if found is not None and not found.remedies:
        found.remedies = weak
    return found


def _parameters(origins: list[Origin]) -> Iterator[Remedy]:
    """The parameters of the module that was given in their place."""
    for one in settable(origins):
        if one.name in _PARTS and one.passed and one.value:
            made = f"{one.value}.parameters()"
            yield Remedy("do-set", (("x", one.name), ("y", made)), f"{one.name}={made}", "rule")


def _one_of_many(origins: list[Origin], trace: Trace, annotated: str = "") -> Iterator[Remedy]:
    """A list of the one object that the user's call gives for several. ``annotated``: what the argument's annotation has to name."""
    first = origins[0] if origins and origins[0].kind == "argument" and not origins[0].lost else None
    context = trace.context(len(trace.frames) - 1)
    if first is None or not first.passed or not first.value or context is None or context.function is None:
        return
    annotation = first.annotation or signature(context.function, first.name)[1] or ""
    if annotated in annotation.lower():
        yield set_to(first, f"[{first.value}]")


def _by_annotation(found: FoundPlace | None, kind: str, trace: Trace) -> FoundPlace | None:
    """The one argument of the user's own whose annotation does not admit the class that the message tells."""
    several = list(_refused_by_annotation(kind, trace)) or list(_refused_of(found, kind, trace))
    if len(several) != 1:
        return found
    [(origin, annotation)] = several
    found = found or FoundPlace(None, "", [], [], "source")
    found.origins = [origin, *(one for one in found.origins if one.name != origin.name)]
    found.remedies = [Remedy("do-class", (("x", origin.name), ("y", annotation)), f"{origin.name}=...", "rule")]
    return found


def _number_wanted(message: str) -> str:
    """The class of number that a text stood in the place of; "" where the message is another one."""
    if _NUMBER.match(message):
        return "int" if "integer" in message else "float"
    said = _COMPARED.match(message)
    if said is None or "str" not in (said["a"], said["b"]):
        return ""
    other = said["b"] if said["a"] == "str" else said["a"]
    return other if other in ("int", "float") else ""


def _class_wanted(message: str) -> tuple[str, str] | None:
    """The class of a value and the one that compiled code wanted in its place."""
    for pattern in _WANTED:
        if (said := pattern.search(message)) is not None and said["u"].lower() in _CLASSES:
            return said["t"], _CLASSES[said["u"].lower()]
    return None


def _only_value(
    found: FoundPlace | None, kind: str, wanted: str, trace: Trace, name_told: str, lang: str
) -> FoundPlace | None:
    """The one argument of the user's own calls that is written as a value of a class, and what it has to be.

    ``name_told``: the argument that the message names, which may be another one's name inside of the library.
    """
    several = []
    for call in trace.own_calls:
        for name, node in named_values(call, trace):
            value = literal(ast.unparse(node))
            if value is not UNKNOWN and type(value).__name__ == kind and _may_become(value, wanted):
                several.append((Origin(name, "argument", "", ast.unparse(node), True), value))
    several = [one for one in several if one[0].name == name_told] or several
    if len(several) != 1:
        return found
    [(origin, value)] = several
    number = literal(value) if isinstance(value, str) and wanted in ("int", "float") else UNKNOWN
    if number is not UNKNOWN:
        fix = set_to(origin, repr(number))
    elif wanted == "int" and isinstance(value, float) and value.is_integer():
        fix = set_to(origin, repr(int(value)))
    elif wanted in ("list", "sequence") and isinstance(value, dict):
        fix = set_to(origin, repr(list(value.items())))
    elif wanted == "list":
        fix = set_to(origin, repr([value]))
    else:
        fix = Remedy(
            "do-class", (("x", origin.name), ("y", wanted.replace("sequence", "list"))), f"{origin.name}=...", "rule"
        )
    found = found or FoundPlace(None, "", [], [], "rule")
    found.origins = [origin, *(one for one in found.origins if one.name != origin.name)]
    found.remedies = [fix]
    found.condition = found.condition or say("ref-class", lang, x=origin.name, t=kind, u=wanted)
    return found


def _may_become(value: object, wanted: str) -> bool:
    """Whether a value can stand for one of the class: a text for a number only if it is written as one."""
    return wanted not in ("int", "float") or not isinstance(value, str) or isinstance(literal(value), (int, float))


def _text_side(found: FoundPlace, message: str) -> str:
    """The side of the failing line's only comparison or operator that is a text; "" where that is not seen."""
    said = _COMPARED.match(message)
    if said is None or found.frame is None or said["a"] == said["b"]:
        return ""
    sides = set()
    for text in (marked(found.frame), code(found.frame)):
        tree = parsed(text)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.BinOp):
                sides.add((ast.unparse(node.left), ast.unparse(node.right)))
            elif isinstance(node, ast.Compare) and len(node.ops) == 1:
                sides.add((ast.unparse(node.left), ast.unparse(node.comparators[0])))
        if len(sides) == 1:
            [(left, right)] = sides
            return left if said["a"] == "str" else right
    return ""


def _as_number(found: FoundPlace, number: str, message: str, trace: Trace) -> tuple[list[Origin], list[Remedy]]:
    """The argument that is a text, and that it should be a number."""
    mine, side = passed_values(trace), _text_side(found, message)
    out = []
    for one in found.origins:
        given = literal(mine.get(one.name))
        if isinstance(given, str) and one.kind in ("argument", "option", "attribute"):
            one = one._replace(kind="argument", value=mine[one.name], passed=True, lost=False, exact=True)
        out.append(one)
    at_side = [one for one in out if one.expression == side]
    able = settable(at_side or out)
    texts = [one for one in able if isinstance(literal(one.value), str) and _may_become(literal(one.value), "float")]
    open_ = [one for one in able if literal(one.value) is UNKNOWN]
    chosen = texts[0] if len(texts) == 1 else open_[0] if not texts and len(open_) == 1 else None
    if chosen is None:
        return out, []
    out = [chosen, *(one for one in out if one is not chosen)]
    kind = next((one for one in ("float", "int") if one in (chosen.annotation or "")), number)
    value = literal(str(literal(chosen.value))) if chosen in texts else UNKNOWN
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return out, [set_to(chosen, repr(value))]
    code_ = f"{chosen.name}={kind}({chosen.value})" if chosen.value else f"{chosen.name}={kind}(...)"
    return out, [Remedy("do-class", (("x", chosen.name), ("y", kind)), code_, "rule")]


def _refused_of(found: FoundPlace | None, kind: str, trace: Trace) -> Iterator[tuple[Origin, str]]:
    """The argument that the failing line uses, if it alone is one, and its annotation does not admit the class."""
    context = trace.context(len(trace.frames) - 1) if found is not None and len(found.origins) == 1 else None
    for origin in found.origins if found is not None and context is not None else ():
        able = origin.kind in ("argument", "option") and not origin.lost and origin.passed is not False
        if origin.value is None and not origin.passed and any(trace.sources.of(trace.frames[at]) for at in trace.own):
            continue  # the user's file is here and does not give it: its default counts, which is of the right class
        if (
            able
            and context is not None
            and admits(origin.annotation or "", kind, context.source, trace.sources) is False
        ):
            yield origin, written_out(origin.annotation or "", context.source, trace.sources)


def _refused_by_annotation(kind: str, trace: Trace) -> Iterator[tuple[Origin, str]]:
    """The arguments of the user's own calls that are of a class which their annotation does not admit."""
    for call in trace.own_calls:
        function = function_of(call, trace)
        source = _source_of(function, trace) if function is not None else None
        if function is None or source is None:
            continue
        for name, node in named_values(call, trace):
            value = literal(ast.unparse(node))
            annotation = signature(function, name)[1] or ""
            if (
                value is not UNKNOWN
                and type(value).__name__ == kind
                and admits(annotation, kind, source, trace.sources) is False
            ):
                origin = Origin(name, "argument", function.name, ast.unparse(node), True, None, annotation)
                yield origin, written_out(annotation, source, trace.sources)


def _source_of(function: Function, trace: Trace) -> SourceFile | None:
    for at in range(len(trace.frames)):
        context = trace.context(at)
        if context is not None and context.function is function:
            return context.source
    return None
