"""An argument of the user's own call that is of another class than the library's code needs.

Python's message tells the class (`'str' object has no attribute 'items'`), and the user's line shows a value of that class where
the function's annotation admits none; or the failing line compares it with a number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.accepted import of_module
from troubleshooter.explaining.classes import imported_from
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import set_to, settable
from troubleshooter.explaining.names import signature
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.origins import Trace
from troubleshooter.explaining.own_lines import own_calls, passed_values
from troubleshooter.explaining.own_values import function_of, named_values
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal
from troubleshooter.explaining.sources import Function, SourceFile, Sources
from troubleshooter.observe.model import Failure

_COMPARED = lazy.compile(
    r"^(?:'[<>]=?' not supported between instances of|unsupported operand type\(s\) for [^\s:]{1,12}:) '(?P<a>\w{1,40})' and '(?P<b>\w{1,40})'"
)
_NUMBER = lazy.compile(r"^(?:must be real number, not str|'str' object cannot be interpreted as an integer)")
_OBJECT = lazy.compile(
    r"^'(?P<t>str|int|float|list|dict|tuple|bool)' object (?:has no attribute|is not (?:callable|iterable|subscriptable|a mapping)|does not support)"
)
_ITERABLE = lazy.compile(r"^'(?P<t>[A-Z]\w{1,80})' object is not iterable")
_PARTS = ("parameters", "params")
"""Arguments that take the parameters of a module."""
MAX_ANNOTATION = 60
"""Characters of an annotation that is shown."""
MAX_ALIASES = 3
"""Names of types that are followed to what they stand for."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace) -> FoundPlace | None:
    """An explanation that suggests the class, where it suggests nothing yet."""
    if failure.type not in ("TypeError", "AttributeError") or (found is not None and found.remedies):
        return found
    if found is not None and (number := _number_wanted(failure.message)):
        found.origins, found.remedies = _as_number(found.origins, number, trace)
    elif found is not None and (said := _ITERABLE.match(failure.message)) and said["t"] not in ("NoneType",):
        for one in settable(found.origins):
            if one.name in _PARTS and one.passed and one.value:
                code = f"{one.name}={one.value}.parameters()"
                found.remedies = [Remedy("do-set", (("x", one.name), ("y", f"{one.value}.parameters()")), code, "rule")]
    elif said := _OBJECT.match(failure.message):
        several = list(_refused_by_annotation(said["t"], trace))
        if len(several) == 1:
            [(origin, annotation)] = several
            rest = [one for one in found.origins if one.name != origin.name] if found is not None else []
            found = found or FoundPlace(None, "", [], [], "source")
            found.origins = [origin, *rest]
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


def _as_number(several: list[Origin], number: str, trace: Trace) -> tuple[list[Origin], list[Remedy]]:
    """The argument that is a text, and that it should be a number."""
    mine = passed_values(trace)
    out = []
    for one in several:
        given = literal(mine.get(one.name))
        if isinstance(given, str) and one.kind in ("argument", "option", "attribute"):
            one = one._replace(kind="argument", value=mine[one.name], passed=True, lost=False, exact=True)
        out.append(one)
    texts = [one for one in settable(out) if isinstance(literal(one.value), str)]
    open_ = [one for one in settable(out) if literal(one.value) is UNKNOWN]
    chosen = texts[0] if len(texts) == 1 else open_[0] if not texts and len(open_) == 1 else None
    if chosen is None:
        return out, []
    kind = next((one for one in ("float", "int") if one in (chosen.annotation or "")), number)
    value = literal(str(literal(chosen.value))) if chosen in texts else UNKNOWN
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return out, [set_to(chosen, repr(value))]
    code = f"{chosen.name}={kind}({chosen.value})" if chosen.value else f"{chosen.name}={kind}(...)"
    return out, [Remedy("do-class", (("x", chosen.name), ("y", kind)), code, "rule")]


def _refused_by_annotation(kind: str, trace: Trace) -> Iterator[tuple[Origin, str]]:
    """The arguments of the user's own calls that are of a class which their annotation does not admit."""
    for call in own_calls(trace):
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
                yield origin, _written_out(annotation, source, trace.sources)


def _written_out(annotation: str, source: SourceFile, sources: Sources) -> str:
    """An annotation as it is shown: of a name for several types, these types."""
    there: SourceFile | None = source
    for _ in range(MAX_ALIASES if annotation.isidentifier() else 0):
        if there is None:
            break
        if (value := of_module(there, annotation)) is not None:
            annotation = " | ".join(ast.unparse(one) for one in _alternatives(value))
            break
        module = imported_from(there, annotation)
        there = sources.near(there, module) if module else None
    return annotation if len(annotation) <= MAX_ANNOTATION else annotation[: MAX_ANNOTATION - 1] + "…"


def _source_of(function: Function, trace: Trace) -> SourceFile | None:
    for at in range(len(trace.frames)):
        context = trace.context(at)
        if context is not None and context.function is function:
            return context.source
    return None


def admits(annotation: str, kind: str, source: SourceFile, sources: Sources, left: int = MAX_ALIASES) -> bool | None:
    """Whether an annotation admits a value of a class; None where it names something whose meaning is not known."""
    try:
        node = ast.parse(annotation.strip("'\""), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    told = {_admits(one, kind, source, sources, left) for one in _alternatives(node)}
    return True if True in told else None if None in told else False


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of ``A | B``, ``Union[A, B]`` and ``Optional[A]``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _alternatives(node.left)
        yield from _alternatives(node.right)
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] in ("Union", "Optional"):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            yield from _alternatives(part)
    else:
        yield node


_ADMITTED = {
    "str": ("str",), "int": ("int", "bool"), "float": ("float", "int", "bool"), "bool": ("bool",), "list": ("list",),
    "List": ("list",), "dict": ("dict",), "Dict": ("dict",), "tuple": ("tuple",), "Tuple": ("tuple",), "None": (), "NoneType": (),
    "set": ("set",), "Callable": (), "Tensor": (), "ndarray": (), "Module": (), "Sequence": ("list", "tuple", "str"),
    "Iterable": ("list", "tuple", "str", "dict"), "Mapping": ("dict",), "Literal": ("str", "int", "bool"),
}  # fmt: skip
"""The built-in classes whose values a type admits."""


def _admits(node: ast.expr, kind: str, source: SourceFile, sources: Sources, left: int) -> bool | None:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Constant):
        return (
            admits(node.value, kind, source, sources, left) if isinstance(node.value, str) else node.value is not None
        )
    name = ast.unparse(node).rpartition(".")[2]
    if name in _ADMITTED:
        return kind in _ADMITTED[name]
    there: SourceFile | None = source
    for _ in range(left):
        if there is None:
            return None
        if (class_ := there.class_named(name)) is not None:
            return False if _is_plain_class(class_) else None
        if (value := of_module(there, name)) is not None:
            return admits(ast.unparse(value), kind, there, sources, left - 1)
        module = imported_from(there, name)
        there = sources.near(there, module) if module else None
    return None


def _is_plain_class(class_: ast.ClassDef) -> bool:
    """Whether a class is none of texts, numbers or members of an enumeration, which a text may stand for."""
    return not re.search(r"str|int|float|Enum|dict|list|Protocol|Path", " ".join(map(ast.unparse, class_.bases)))
