"""Two objects of the user's own call that do not fit each other: "BpeTrainer can only train a BPE", and the model is another one."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.calls import calls_at
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_ONLY = lazy.compile(
    r"^(?P<x>[A-Z]\w{1,60}) can only (?:train|handle|process|take|accept|work with|be used (?:with|for)|be applied to) (?:an? )?(?P<y>[A-Z]\w{1,60})(?!\w)"
)


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that names both; the same where the user's file does not show what they are."""
    said = _ONLY.match(failure.message)
    if said is None or (found is not None and found.remedies) or not trace.own:
        return found
    at = trace.own[-1]
    tree = trace.own_code.tree(at)
    for call in calls_at(tree, trace.frames[at].line) if tree is not None else ():
        given = [(one.arg or "", one.value) for one in call.keywords] + [("", one) for one in call.args]
        mine = [(name, value) for name, value in given if _class(trace.own_code.making(value, at)) == said["x"]]
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        inner = _inside(trace.own_code.making(holder, at)) if holder is not None else ""
        if len(mine) != 1 or holder is None or inner in ("", said["x"], said["y"]):
            continue
        name, text = mine[0][0] or ast.unparse(mine[0][1]), ast.unparse(holder)
        condition = say("misfit", lang, x=name, a=said["x"], y=said["y"], h=text, b=inner)
        names = (("x", name), ("a", said["x"]), ("b", inner), ("h", text), ("y", said["y"]))
        made = _named_alike(said["x"], said["y"], inner, tree)
        code = f"{name}={made}(...)" if made and mine[0][0] else f"{made}(...)" if made else None
        found = found or FoundPlace(None, "", [], [], "rule")
        found.condition = condition
        found.origins = [
            Origin(name, "argument", "", f"{said['x']}(...)", True),
            Origin(text, "data"),
        ]
        found.remedies = [Remedy("misfit-fit", names, code, "message")]
        return found
    return found


def _class(call: ast.Call | None) -> str:
    """The class that a call makes an object of; "" for a function."""
    name = ast.unparse(call.func).rpartition(".")[2] if call is not None else ""
    return name if name[:1].isupper() else ""


def _inside(call: ast.Call | None) -> str:
    """The class of the one object that another one is made of: ``Tokenizer(WordPiece())``."""
    if call is None:
        return ""
    parts = [*call.args, *(one.value for one in call.keywords)]
    classes = [name for one in parts if isinstance(one, ast.Call) and (name := _class(one))]
    return classes[0] if len(classes) == 1 else ""


def _named_alike(given: str, fits: str, other: str, tree: ast.Module | None) -> str:
    """The class that is to the other object what the given one is to the one that it fits, if the file knows a class of this name."""
    if tree is None or not given.lower().startswith(fits.lower()):
        return ""
    made = other + given[len(fits) :]
    known = {
        one.asname or one.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names
    }
    return made if made in known else ""
