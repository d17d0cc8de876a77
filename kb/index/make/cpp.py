"""The messages of torch's C++ and CUDA sources: what its checks, errors and warnings print, with the condition that is checked.

Only the text is read, without a compiler: a macro's arguments are split at the commas outside of brackets and strings. A literal
is a piece of the message, and any other argument is a hole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.index.place import Guard, Hole, MessagePlace, Piece, weight

LEAST_WEIGHT = 12
"""Literal characters (without white space) of the least message that is kept."""
MAX_ARGUMENTS = 8_000
"""A macro's arguments are read up to this many characters."""

_MACRO = re.compile(
    r"\b(TORCH_CHECK(?:_WITH|_INDEX|_VALUE|_TYPE|_NOT_IMPLEMENTED|_LINALG|_IF_NOT_ON_CUDA)?|TORCH_INTERNAL_ASSERT|AT_ERROR|C10_THROW_ERROR"
    r"|TORCH_WARN(?:_ONCE)?)\s*\("
)
_EXCEPTIONS = {
    "TORCH_CHECK": "RuntimeError", "TORCH_CHECK_INDEX": "IndexError", "TORCH_CHECK_VALUE": "ValueError",
    "TORCH_CHECK_TYPE": "TypeError", "TORCH_CHECK_NOT_IMPLEMENTED": "NotImplementedError",
    "TORCH_CHECK_LINALG": "torch.linalg.LinAlgError", "TORCH_INTERNAL_ASSERT": "RuntimeError", "AT_ERROR": "RuntimeError",
}  # fmt: skip
_CLASSES = {
    "DistBackendError": "torch.distributed.DistBackendError", "DistStoreError": "torch.distributed.DistStoreError",
    "DistNetworkError": "torch.distributed.DistNetworkError", "DistError": "torch.distributed.DistError",
    "OutOfMemoryError": "torch.OutOfMemoryError", "ValueError": "ValueError", "IndexError": "IndexError",
    "TypeError": "TypeError", "NotImplementedError": "NotImplementedError", "LinAlgError": "torch.linalg.LinAlgError",
}  # fmt: skip
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<char>'(?:[^'\\\n]|\\.)')|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<cut>,)"""
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LITERALS = re.compile(r'(?:\s*"(?:[^"\\\n]|\\.)*")+\s*', re.DOTALL)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_JOINED = re.compile(
    r"\s*(?:c10::str|at::str|std::string|c10::DistBackendError|c10::utils::str|std::move)\s*\((.*)\)\s*", re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def cpp_source(text: str, path: str) -> list[MessagePlace]:
    """The messages of one source file, each with the condition that its check asks for (kind ``compiled``)."""
    plain = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if not _in_text(text, found) else found[0], text)
    found = []
    for match in _MACRO.finditer(plain):
        if plain[plain.rfind("\n", 0, match.start()) + 1 :].lstrip().startswith("#define"):
            continue
        place = _place(match[1], list(_arguments(plain, match.end())), path, plain.count("\n", 0, match.start()) + 1)
        if place is not None and weight(place.template) >= LEAST_WEIGHT:
            found.append(place)
    return found


def _place(macro: str, arguments: list[str], path: str, line: int) -> MessagePlace | None:
    exception = _EXCEPTIONS.get(macro)
    if macro in ("TORCH_CHECK_WITH", "C10_THROW_ERROR"):
        if not arguments:
            return None
        exception = _CLASSES.get(arguments.pop(0).strip().rpartition("::")[2])
    condition = ""
    if macro.startswith(("TORCH_CHECK", "TORCH_INTERNAL")):
        if not arguments:
            return None
        condition = " ".join(arguments.pop(0).split())
    pieces: list[Piece] = [piece for argument in arguments for piece in _pieces(argument)]
    if macro == "TORCH_INTERNAL_ASSERT":
        if not pieces:  # prints its own condition and nothing else, so a reader needs no index
            return None
        pieces = [f"{condition} INTERNAL ASSERT FAILED at ", Hole(""), ", please report a bug to PyTorch. ", *pieces]
    elif condition and not pieces:
        pieces = [f"Expected {condition} to be true, but got false."]
    asked = condition not in ("", "false", "0")
    guards = (Guard("check", condition, False, line),) if asked else ()
    return MessagePlace("compiled", exception, None, tuple(_merged(pieces)), path, "", line, line, guards, (), ())


def _pieces(argument: str) -> Iterator[Piece]:
    """What one argument prints: literals are text, a call that joins its arguments is what they print, anything else a hole."""
    joined = _JOINED.fullmatch(argument)
    if joined is not None:
        for part in _arguments(joined[1] + ")", 0):
            yield from _pieces(part)
    elif _LITERALS.fullmatch(argument):
        yield "".join(_ESCAPE.sub(_unescaped, part) for part in _LITERAL.findall(argument))
    elif argument.strip():
        yield Hole(" ".join(argument.split()))


def _merged(pieces: list[Piece]) -> Iterator[Piece]:
    """Neighbouring texts as one, and neighbouring holes as one."""
    before: Piece | None = None
    for piece in pieces:
        if isinstance(before, str) and isinstance(piece, str):
            before += piece
        elif not (isinstance(before, Hole) and isinstance(piece, Hole)):
            if before is not None:
                yield before
            before = piece
    if before is not None:
        yield before


def _arguments(text: str, begin: int) -> Iterator[str]:
    """The arguments of a call whose opening bracket ends at ``begin``. Nothing for a call that is too long or not closed."""
    depth, start = 0, begin
    found = []
    for token in _TOKEN.finditer(text, begin, begin + MAX_ARGUMENTS):
        if token["open"]:
            depth += 1
        elif token["close"] and depth:
            depth -= 1
        elif token["close"]:
            found.append(text[start : token.start()])
            yield from (part for part in found if part.strip())
            return
        elif token["cut"] and not depth:
            found.append(text[start : token.start()])
            start = token.end()


def _in_text(text: str, found: re.Match[str]) -> bool:
    """Whether what looks like a comment is inside of a string, as the ``//`` of an address is."""
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    return len(re.findall(r'(?<!\\)"', line)) % 2 == 1


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(match[1], match[1])
