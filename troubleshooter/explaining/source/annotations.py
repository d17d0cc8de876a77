"""What an annotation admits: the classes of values, and the values that it lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from troubleshooter.explaining.source.accepted import of_module
from troubleshooter.explaining.source.classes import imported_from
from troubleshooter.explaining.source.sources import SourceFile, Sources

MAX_ANNOTATION = 60
"""Characters of an annotation that is shown."""
MAX_ALIASES = 3
"""Names of types that are followed to what they stand for."""


def listed(annotation: str | None) -> list[object]:
    """The values of ``Literal["a", "b"]``, also within ``Optional`` and ``A | B``; empty where a part admits others."""
    try:
        node = ast.parse((annotation or "").strip("'\""), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    out: list[object] = []
    for part in _alternatives(node):
        if isinstance(part, ast.Constant) and part.value is None:
            out.append(None)
        elif isinstance(part, ast.Subscript) and ast.unparse(part.value).rpartition(".")[2] == "Literal":
            several = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
            out += [one.value for one in several if isinstance(one, ast.Constant)]
        else:
            return []
    return out


def written_out(annotation: str, source: SourceFile, sources: Sources) -> str:
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
