"""What several frames of a traceback tell together: a method called on its class, and a folder that is missing.

The line that raised does not show these: the frame above it does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.shown import called, calls, code, marked
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure, Frame

_PLAIN = "str|int|float|bool|list|tuple|dict|set|NoneType|torch\\.device|torch\\.dtype"
_NO_ATTRIBUTE = lazy.compile(rf"^'(?P<t>{_PLAIN})' object has no attribute '(?P<a>\w{{1,80}})'")
_NO_SELF = lazy.compile(r"^(?P<f>[\w.]{1,120})\(\) missing 1 required positional argument: 'self'")
_ABSENT = lazy.compile(r"No such file or ?directory: ?['\"](?P<x>[^'\"\n]{1,300})['\"]")
_WRITING = lazy.compile(r"[wxa]b?\+?t?|[wxa]t?\+?b?")
_SAVING = frozenset(
    (
        "save",
        "save_file",
        "savefig",
        "to_csv",
        "to_json",
        "to_parquet",
        "to_pickle",
        "write_text",
        "write_bytes",
        "imwrite",
        "dump",
    )
)
LAST_FRAMES = 5
"""A file is opened within this many frames of the failure."""


def explain(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation by several frames; None where they show neither."""
    return _called_on_class(failure, lang) or _missing_folder(failure, lang)


def _called_on_class(failure: Failure, lang: str) -> FoundPlace | None:
    """A method that was called on a class: its first argument took the place of the object."""
    frames = failure.frames
    if failure.type == "AttributeError" and len(frames) > 1:
        found = _NO_ATTRIBUTE.match(failure.message)
        if found is None or not _asks_self(frames[-1], found["a"]):
            return None
        for call in calls(marked(frames[-2])):
            if (
                isinstance(call.func, ast.Attribute)
                and call.func.attr == frames[-1].function.rpartition(".")[2]
                and call.args
            ):
                return _on_class(
                    frames[-2], ast.unparse(call.func.value), call.func.attr, ast.unparse(call.args[0]), lang
                )
    elif failure.type == "TypeError" and frames and (found := _NO_SELF.match(failure.message)):
        name = found["f"].rpartition(".")[2]
        for call in calls(marked(frames[-1])):
            if isinstance(call.func, ast.Attribute) and call.func.attr == name:
                return _on_class(frames[-1], ast.unparse(call.func.value), name, "", lang)
    return None


def _asks_self(frame: Frame, attribute: str) -> bool:
    return re.search(rf"(?<![\w.])self\.{re.escape(attribute)}\b", code(frame)) is not None


def _on_class(frame: Frame, owner: str, method: str, first: str, lang: str) -> FoundPlace:
    key = "own-on-class" if first else "own-on-class-empty"
    made = f"{owner}(...).{method}({first})"
    return FoundPlace(
        frame, say(key, lang, c=owner, f=method, x=first), [Origin(owner, "data")],
        [Remedy("own-object", (("x", made),), made, "rule")], "rule",
    )  # fmt: skip


def _missing_folder(failure: Failure, lang: str) -> FoundPlace | None:
    """A file that was opened for writing and is "not found": its folder does not exist."""
    found = _ABSENT.search(failure.message) if failure.type == "FileNotFoundError" else None
    if found is None or not any(_writes(frame) for frame in failure.frames[-LAST_FRAMES:]):
        return None
    folder = re.match(r"(.*[^/\\])[/\\]+[^/\\]*$", found["x"])
    if folder is None:
        return None
    mine = next((one for one in reversed(failure.frames) if is_own(one)), failure.frames[-1])
    make = f"os.makedirs({folder[1]!r}, exist_ok=True)"
    return FoundPlace(
        mine, say("own-folder", lang, x=found["x"], d=folder[1]), [Origin(folder[1], "data")],
        [Remedy("own-make-folder", (("x", make),), make, "rule")], "rule",
    )  # fmt: skip


def _writes(frame: Frame) -> bool:
    for call in calls(code(frame)):
        if called(call) in _SAVING or any(_WRITING.fullmatch(text) for text in _texts(call)):
            return True
    return False


def _texts(call: ast.Call) -> Iterator[str]:
    """The texts that may be the mode of a call that opens a file."""
    if "open" not in called(call):
        return
    for node in [*call.args[1:], *(one.value for one in call.keywords if one.arg == "mode")]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
