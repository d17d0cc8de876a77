"""A method of the user's own class that a library calls with other arguments than it takes: a callback, a loss, a model's `forward`.

Python's message names the class and the method, and the user's file, which is here, has both. `callbacks` does the same for functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.python import wrong_calls
from troubleshooter.explaining.source.calls import calls_at
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.own_functions import OwnFunction, functions_of
from troubleshooter.explaining.source.shown import called, calls, code, is_whole, marked
from troubleshooter.explaining.source.sources import Sources
from troubleshooter.observe.model import Failure, Frame

_MESSAGES = wrong_calls.patterns(r"^(?:[\w.]{1,120}\.<locals>\.)?(?P<c>\w{1,80})\.(?P<f>\w{1,80})\(\) ")
_ANY_UNEXPECTED = lazy.compile(r"\(\) got an unexpected keyword argument '(?P<x>\w{1,80})'")


def explain(failure: Failure, sources: Sources, lang: str) -> FoundPlace | None:
    """The explanation; None where the method is not the user's, or the call is their own."""
    frames = failure.frames
    if failure.type != "TypeError" or not frames or is_own(frames[-1]) or not any(map(is_own, frames)):
        return None
    wrong = wrong_calls.read(failure.message, _MESSAGES)
    method = _method(wrong.found["c"], wrong.found["f"], frames, sources) if wrong is not None else None
    if wrong is None or method is None:
        return None
    if wrong.key == wrong_calls.UNEXPECTED:
        if _passes_on(frames, wrong.names[0], sources):
            return None
    elif not _is_called_by(frames[-1], method.name):
        return None
    name = f"{wrong.found['c']}.{method.name}"
    place = file_line(method.source.path, method.function.lineno)
    shown = f"def {method.name}({ast.unparse(method.function.args)})"
    origin = Origin(method.name, "data", "", shown, True, place=place)
    fix = wrong.remedy(name, _with_rest(method))
    return FoundPlace(frames[-1], wrong.condition(name, lang), [origin, *wrong.arguments], [fix], "rule")


def amended(found: FoundPlace | None, failure: Failure, sources: Sources) -> FoundPlace | None:
    """An explanation without the suggestion to remove a keyword from a call that is the library's, and that the user passed nowhere."""
    frames = failure.frames
    said = _ANY_UNEXPECTED.search(failure.message)
    if found is None or said is None or not frames or is_own(frames[-1]) or _may_pass(frames, said["x"], sources):
        return found
    found.remedies = [one for one in found.remedies if one.key not in ("own-remove", "own-rename")]
    return found


def _method(owner: str, name: str, frames: Sequence[Frame], sources: Sources) -> OwnFunction | None:
    """The user's own method; None where their files have none of its class and name, or several."""
    files = dict.fromkeys(one for frame in frames if is_own(frame) and (one := sources.of(frame)) is not None)
    found = [
        one
        for file in files
        for one in functions_of(file)
        if one.name == name and one.owner is not None and one.owner.name == owner
    ]
    return found[0] if len(found) == 1 else None


def _may_pass(frames: Sequence[Frame], name: str, sources: Sources) -> bool:
    """Whether a keyword may come from the user: from a call or a dictionary of their file, or from a line that is not seen whole."""
    own = [frame for frame in frames if is_own(frame)]
    if _passes_on(frames, name, sources):
        return True
    quoted = re.compile(rf"['\"]{re.escape(name)}['\"]")
    for frame in own:
        source = sources.of(frame)
        if source is None and (not code(frame) or not is_whole(code(frame)) or quoted.search(code(frame))):
            return True
        if source is not None and any(_writes(node, name) for node in ast.walk(source.tree)):
            return True
    return False


def _passes_on(frames: Sequence[Frame], name: str, sources: Sources) -> bool:
    """Whether a line of the user's own passes the keyword, or a mapping (``**batch``), to what does not take it itself."""
    for at, frame in enumerate(frames[:-1]):
        if not is_own(frame) or is_own(frames[at + 1]):
            continue
        for call in _calls(frame, sources):
            if any(one.arg in (name, None) for one in call.keywords) and not _takes(frames[at + 1], name, sources):
                return True
    return False


def _takes(frame: Frame, name: str, sources: Sources) -> bool:
    """Whether the function of a frame has a parameter of the name, so that the keyword ends there."""
    source = sources.of(frame)
    function = source.around(frame.line)[1] if source is not None else None
    return function is not None and name in parameters(function)


def _calls(frame: Frame, sources: Sources) -> list[ast.Call]:
    source = sources.of(frame)
    return calls_at(source.tree, frame.line) if source is not None else calls(code(frame))


def _writes(node: ast.AST, name: str) -> bool:
    """Whether a dictionary of the user's has the name as a key."""
    keys = node.keys if isinstance(node, ast.Dict) else [node.slice] if isinstance(node, ast.Subscript) else []
    return any(isinstance(key, ast.Constant) and key.value == name for key in keys)


def _is_called_by(frame: Frame, name: str) -> bool:
    """Whether the library's line calls the method itself, by its name or by ``getattr``, and does not only pass a call on."""
    for call in calls(marked(frame)) or calls(code(frame)):
        is_looked_up = isinstance(call.func, ast.Call) and called(call.func) == "getattr"
        if is_looked_up or called(call).rpartition(".")[2] == name:
            return True
    return False


def _with_rest(method: OwnFunction) -> str:
    """The first line of a method with ``**kwargs``."""
    given = method.function.args
    listed = ast.unparse(given)
    return f"def {method.name}({listed}, **kwargs):" if parameters(method.function) else f"def {method.name}(**kwargs):"
