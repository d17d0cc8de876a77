"""A function of several parameters that a pool of processes calls with one row: ``pool.map`` where ``starmap`` takes each row apart."""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.python import wrong_calls
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.shown import calls, code, marked
from troubleshooter.observe.model import Failure

_MESSAGES = wrong_calls.patterns(r"^(?P<f>\w{1,80})\(\) ")
_POOL = "multiprocessing/pool.py"
_UNPACKING = {"map": "starmap", "map_async": "starmap_async"}


def explain(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation that names ``starmap``; None where no pool of the user's own line called the function, or it takes rows apart."""
    frames = failure.frames
    if failure.type != "TypeError" or not frames or not frames[-1].file.endswith(_POOL):
        return None
    wrong = wrong_calls.read(failure.message, _MESSAGES)
    mine = next((frame for frame in reversed(frames) if is_own(frame)), None)
    if wrong is None or wrong.key != wrong_calls.FEWER or mine is None:
        return None
    function = wrong.found["f"]
    for call in calls(marked(mine)) or calls(code(mine)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in _UNPACKING and call.args and ast.unparse(call.args[0]) == function:
            assert isinstance(call.func, ast.Attribute)
            text = f"{ast.unparse(call.func.value)}.{_UNPACKING[name]}"
            fix = Remedy("cb-starmap", (("x", text),), text, "rule")
            origins = [Origin(ast.unparse(call.func), "data"), *wrong.arguments]
            return FoundPlace(frames[-1], wrong.condition(function, lang), origins, [fix], "rule")
    return None
