"""What a function of the user's own gave back to a library that needed something else: no dictionary of metrics, no loss, a row
that is None."""

from __future__ import annotations

import ast
import builtins
from pathlib import PurePath

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.own import collated, forgetful, returned_forms
from troubleshooter.explaining.own.batched import passes_in_batches
from troubleshooter.explaining.own.made_by import Makers, names_of
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.calls import passed
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction, class_of_value
from troubleshooter.explaining.source.shown import called, code, gone_through, marked, parsed
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_OBJECT = lazy.compile(
    r"^'?(?P<t>NoneType|str|int|float|bool|list|tuple|dict|set|float64|float32|[Tt]ensor)'? object (?:has no attribute '(?P<a>\w{1,80})'"
    r"|is not (?:subscriptable|iterable|a mapping|callable)|(?P<set>does not support item assignment))"
)
_OPERATOR = lazy.compile(r"^unsupported operand type\(s\) for [^\s:]{1,12}: '(?P<a>\w{1,40})' and '(?P<b>\w{1,40})'")
_NO_NUMBERS = lazy.compile(
    r"^(?:too many dimensions '(?P<t>str|dict)'|could not determine the shape of object type '(?P<u>str|dict)')"
)
"""What torch says of something that it was to make a tensor of."""
_COMPILED = lazy.compile(
    r"^(?P<f>[\w.]{1,80})\(\): argument '(?P<x>\w{1,60})' \(position (?P<n>\d{1,3})\) must be [^,\n]{1,80}, not NoneType"
)
_ELEMENT = lazy.compile(r"^expected Tensor as element \d{1,9} in argument \d{1,3}, but got NoneType$")
"""What compiled functions say of None."""
_NO_OPERANDS = ("NoneType", "tuple", "list", "dict")
"""Classes of values that are hardly what was to be calculated with."""
_MAKES = ("tensor", "as_tensor", "Tensor", "FloatTensor")
LONG = 120
"""Characters of a returned value that are shown."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that names the function and what it has to return, where nothing was suggested yet."""
    weak = found is None or all(one.key in ("do-check", "own-guard", "own-look") for one in found.remedies)
    if not weak or failure.type not in ("TypeError", "AttributeError", "ValueError") or not trace.own_sources:
        return found
    wrong = _wrong_value(failure, trace)
    context = trace.context(len(trace.frames) - 1) if wrong is not None else None
    if wrong is None or context is None:
        return found
    kind, value = wrong
    makers = Makers(trace)
    if is_own(trace.frames[-1]):
        maker = makers.of_own_line(value, context) if kind == "NoneType" else None
        if maker is None and kind == "NoneType":
            maker = (
                forgetful.called(value, context)
                or forgetful.of_own_parameter(value, context, makers, trace)
                or collated.collate_function(value, context, makers, trace)
            )
        is_none = maker is not None and not maker.is_generator and (not maker.returned or maker.may_end)
        return _told(found, maker, kind, value, failure, trace, lang) if maker is not None and is_none else found
    several = value.elts if isinstance(value, ast.Tuple) else []
    made = [one for part in several if (one := makers.of(part, context)) is not None and _gives(one, kind)]
    if several:
        maker = made[0] if len(made) == 1 else None
    else:
        maker = makers.length() if ast.unparse(value) == "len" else makers.of(value, context)
    if maker is None and kind not in ("NoneType", "") and _OPERATOR.match(failure.message) is None:
        of_kind = [one for one in makers.given_to_library() if _gives(one, kind)]
        maker = of_kind[0] if len(of_kind) == 1 else None
    if maker is None and kind == "NoneType":
        maker = forgetful.only_one(makers, trace)
    if maker is None or maker.is_generator:
        return found
    return _told(found, maker, kind, value, failure, trace, lang)


def _wrong_value(failure: Failure, trace: Trace) -> tuple[str, ast.expr] | None:
    """The class that a message tells, and the part of the failing line that is of it."""
    frame = trace.frames[-1]
    for text in (marked(frame), code(frame)):
        tree = parsed(text)
        nodes = list(ast.walk(tree)) if tree is not None else []
        if (said := _OBJECT.match(failure.message)) is not None:
            holders = [
                node.value
                for node in nodes
                if (isinstance(node, ast.Attribute) and node.attr == said["a"])
                or (isinstance(node, ast.Subscript) and not said["a"])
            ]
            holders += [
                one
                for node in nodes
                if isinstance(node, (ast.For, ast.comprehension)) and "iterable" in said[0]
                for one in gone_through(node.iter)
            ]
            if "callable" in said[0]:
                names = [node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
                holders = [one for one in names if not hasattr(builtins, one.id)]
            if said["t"] != "NoneType" and len(holders) > 1 and "iterable" in said[0]:
                return said["t"], ast.Tuple(holders, ast.Load())  # one of them
            if len({ast.unparse(one) for one in holders}) == 1:
                return said["t"], holders[0]
        elif failure.message.startswith("'float' object cannot be interpreted as an integer"):
            if any(isinstance(node, ast.Call) and called(node) == "len" for node in nodes):
                return "float", ast.Name("len", ast.Load())
        elif _NO_NUMBERS.match(failure.message) is not None:
            made = [
                node.args[0]
                for node in nodes
                if isinstance(node, ast.Call) and node.args and called(node).rpartition(".")[2] in _MAKES
            ]
            if len(made) == 1:
                return "", made[0]
        elif (said := _COMPILED.match(failure.message)) is not None:
            given = [
                one
                for node in nodes
                if isinstance(node, ast.Call) and called(node).rpartition(".")[2] == said["f"].rpartition(".")[2]
                if isinstance(one := passed(node, said["x"], int(said["n"]) - 1), ast.expr)
            ]
            if len(given) == 1:
                return "NoneType", given[0]
        elif _ELEMENT.match(failure.message) is not None:
            several = [node.args[0] for node in nodes if isinstance(node, ast.Call) and node.args]
            if several:
                return "NoneType", several[0]
        elif (said := _OPERATOR.match(failure.message)) is not None:
            kinds = [one for one in said.groups() if one in _NO_OPERANDS]
            sides = [(node.left, node.right) for node in nodes if isinstance(node, ast.BinOp)]
            sides += [(node.target, node.value) for node in nodes if isinstance(node, ast.AugAssign)]
            if "NoneType" in kinds or len(kinds) == 1:
                kind = "NoneType" if "NoneType" in kinds else kinds[0]
                if len(sides) == 1:
                    return kind, sides[0][said["a"] != kind]
    return None


def _gives(one: OwnFunction, kind: str) -> bool:
    return any(node.value is not None and class_of_value(node.value) == kind for node in one.returned)


def _told(
    found: FoundPlace | None,
    maker: OwnFunction,
    kind: str,
    value: ast.expr,
    failure: Failure,
    trace: Trace,
    lang: str,
) -> FoundPlace | None:
    returned, name = maker.returned, maker.full_name
    file = PurePath(maker.source.path).name
    if kind == "NoneType":
        empty = [node for node in returned if class_of_value(node.value) == "NoneType"]
        if returned and not empty and not maker.may_end:
            return found
        line = empty[0].lineno if empty else maker.function.body[-1].lineno if returned else maker.function.lineno
        key = "ret-value" if len(empty) == len(returned) else "ret-value-at" if empty else "ret-value-end"
        fix = Remedy(key, (("x", name), ("y", f"{file}:{line}")), f"return {forgetful.result(maker)}", "rule")
        shown = "None" if empty else None
    else:
        given = [node for node in returned if not kind or class_of_value(node.value) in (kind, "")]
        if len(given) != 1 or given[0].value is None:
            return found
        line, shown = given[0].lineno, ast.unparse(given[0].value)[:LONG]
        fix = _instead(maker, given[0].value, value, failure, trace)
    found = found or FoundPlace(None, "", [], [], "rule")
    place = f"{file}:{line}"
    told = found.condition
    found.condition = say("ret-from" if told else "ret-gives", lang, told=told, f=name, t=kind, place=place)
    if not kind:
        found.condition = told
    origin = Origin(name, "data", "", shown, True, place=place)
    found.origins = [origin, *(one for one in found.origins if one.passed)]
    found.remedies = [fix]
    return found


def _instead(maker: OwnFunction, given: ast.expr, value: ast.expr, failure: Failure, trace: Trace) -> Remedy:
    """What a function has to return: a dictionary where a key is set, a parameter of its own where the library's name is the same."""
    name, shown = maker.name, ast.unparse(given)[:LONG]
    last = ast.unparse(value).rpartition(".")[2]
    if last in parameters(maker.function):
        return Remedy("ret-own", (("x", name), ("y", last)), f"return {last}", "rule")
    if name == "__len__":
        whole = f"return {shown.replace(' / ', ' // ')}" if shown.count(" / ") == 1 else f"return int({shown})"
        return Remedy("ret-whole", (("x", name), ("y", whole)), whole, "rule")
    if "item assignment" in failure.message:
        made = f'return {{"value": {shown}}}'
        return Remedy("ret-dict", (("x", name), ("y", made)), made, "rule")
    wanted = returned_forms.as_overridden(maker, given, trace) or returned_forms.one_part(given, last)
    if wanted:
        return Remedy("ret-wanted", (("x", name), ("y", wanted)), f"return {wanted}", "rule")
    if "not iterable" in failure.message:
        names = names_of(maker, trace)
        in_batches = any(passes_in_batches(call, one) for call in trace.own_calls for one in names)
        each = returned_forms.for_each(given)
        key = "ret-each" if in_batches else "ret-list"
        return Remedy(key, (("x", maker.full_name), ("y", shown)), f"return {each or '[...]'}", "rule")
    return Remedy("ret-other", (("x", name), ("y", shown)), None, "rule")
