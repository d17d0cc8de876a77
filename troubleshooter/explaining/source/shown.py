"""The code that a log shows below a frame: one line, often the first of a statement of several, with marks at a part of it."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator

from kb import lazy
from troubleshooter.observe.model import Frame

_MARKS = lazy.compile(r"[\s~^]*\^[\s~^]*$|\s*~+\s*$")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
END_CHARACTERS = 80
"""So many at the end of a line are looked at for an operator."""
_UNFINISHED = lazy.compile(r"(?:[\s,\\+*/%|&<>=-]|\b(?:and|or|not|in|is|if|else))+$")
"""What a line ends with if its expression goes on below."""
_STRING = lazy.compile(r"""'(?:[^'\\\n]|\\.){0,300}'|"(?:[^"\\\n]|\\.){0,300}\"""")


def code(frame: Frame) -> str:
    """The code lines below a frame, without their indent."""
    return textwrap.dedent("\n".join(line for line in frame.shown if not _MARKS.match(line))).strip("\n")


def marked(frame: Frame) -> str:
    """The part of the line that the marks below it point at; the whole line where there are none."""
    if len(frame.shown) < 2 or not _MARKS.match(frame.shown[1]):
        return code(frame)
    line, marks = frame.shown[0], frame.shown[1]
    start = len(marks) - len(marks.lstrip())
    return line[start : len(marks.rstrip())].strip() or code(frame)


def parsed(text: str) -> ast.Module | None:
    """A line of code as a tree. What lies on the next lines is taken as missing: open brackets are closed."""
    text = text.strip()
    for candidate in _candidates(text):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(candidate)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def nodes_of(frame: Frame) -> Iterator[list[ast.AST]]:
    """The parts of a frame's code: first of what its marks point at, then of the whole line. Nothing where it cannot be read."""
    for text in (marked(frame), code(frame)):
        tree = parsed(text)
        if tree is not None:
            yield list(ast.walk(tree))


def call_of(frame: Frame, *names: str) -> ast.Call | None:
    """The one call of a method of these names in a frame's code; None where there is none, or where there are several."""
    for nodes in nodes_of(frame):
        calls = [one for one in nodes if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
        several = {ast.unparse(one): one for one in calls if getattr(one.func, "attr", "") in names}
        if len(several) == 1:
            return next(iter(several.values()))
    return None


def is_whole(text: str) -> bool:
    """Whether the line shows its whole statement, so that an argument that is not there was not passed."""
    return not _open_brackets(text)


def is_cut(text: str) -> bool:
    """Whether an expression goes on below the line: a bracket is open, or an operator is the last thing."""
    text = text.rstrip(" \\\n")
    return bool(_open_brackets(text)) or (
        not text.endswith(",") and _UNFINISHED.search(text[-END_CHARACTERS:]) is not None
    )


def calls(text: str) -> list[ast.Call]:
    """The calls in a line of code, the outermost first."""
    tree = parsed(text)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []


def called(call: ast.Call) -> str:
    """The name of the method, or the whole name of the function, that a call calls."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def gone_through(value: ast.expr) -> list[ast.expr]:
    """What a loop over a value goes through: all arguments of ``zip`` and the like, else the value itself."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name) or not value.args:
        return [value]
    if value.func.id == "zip":
        return value.args
    return value.args[:1] if value.func.id in ("enumerate", "reversed", "iter") else [value]


def item_of(text: str, marked: str) -> ast.expr | None:
    """What stands in the brackets of a line, in the part that is marked if there are several; None where none do."""
    for part in (marked, text):
        tree = parsed(part)
        found = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)] if tree is not None else []
        if len(found) == 1:
            return found[0]
    return None


def _candidates(text: str) -> Iterator[str]:
    yield text
    closed = _finished(text) + "".join(_CLOSING[char] for char in reversed(_open_brackets(text)))
    yield closed
    for whole in (text, closed):
        if re.match(r"(?:if|for|while|with|def|class|else|try|async)\b", whole):
            yield f"{whole} pass" if whole.endswith(":") else f"{whole}: pass"
        elif re.match(r"(?:elif|except|finally|case)\b", whole):
            body = whole.removeprefix("el") if whole.startswith("elif") else "if 1:"
            yield f"{body} pass" if whole.endswith(":") else f"{body}: pass"
        if whole.startswith(("return", "yield", "await", "raise")):
            yield f"async def _():\n {whole}"
    yield f"({closed})"
    yield re.sub(r"^\w+\s*=\s*", "_(", text).rstrip(", ") + ")"  # `key=value,` in the middle of a call
    yield from _continued(text)


def _finished(text: str) -> str:
    """A line without the operator at its end. Only the end is looked at: a line of nothing but operators would take time squared."""
    return text[:-END_CHARACTERS] + _UNFINISHED.sub("", text[-END_CHARACTERS:])


def _continued(text: str) -> Iterator[str]:
    """A line in the middle of a statement: it goes on with an operator, holds an entry of a dictionary, or closes brackets."""
    rest = re.sub(
        r"^[)\]}\s]*(?:,|(?:and|or|in|not in|is|if|else|for|[-+*/%@|&<>=!]{1,2})(?=[\s(\[]))?\s*", "", text
    ).rstrip(", \\:")
    if not rest:
        return
    rest += "".join(_CLOSING[char] for char in reversed(_open_brackets(rest)))
    opened = "".join({")": "_(", "]": "_[", "}": "{"}[char] for char in reversed(_closed_brackets(rest)))
    yield f"_({rest})" if not opened else f"{opened}{rest}"
    yield f"{{{rest}}}"
    if re.match(r"for\b", text):  # the second half of a comprehension
        yield f"[_ {text.rstrip(', ')}]"


def _closed_brackets(text: str) -> str:
    """The brackets that a text closes without having opened them."""
    open_, out = 0, ""
    for char in _STRING.sub("", text):
        if char in _CLOSING:
            open_ += 1
        elif char in ")]}":
            if open_:
                open_ -= 1
            else:
                out += char
    return out


def _open_brackets(text: str) -> str:
    """The brackets that a text opens and does not close."""
    left: list[str] = []
    for char in _STRING.sub("", text):
        if char in _CLOSING:
            left.append(char)
        elif char in ")]}" and left:
            left.pop()
    return "".join(left)
