"""A function of the user's own that is None because its decorator gives nothing back: ``@register`` without ``return fn``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction, functions_of
from troubleshooter.explaining.source.own_imports import OwnDefinition, definition, definition_at
from troubleshooter.explaining.source.shown import nodes_of
from troubleshooter.explaining.source.sources import Function, SourceFile
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = "'NoneType' object is not callable"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace:
    """The explanation with the decorator; the same where the function has none, or its decorators give something back."""
    context = trace.context(len(trace.frames) - 1)
    if failure.type != "TypeError" or failure.message != _MESSAGE or context is None:
        return found
    told = _at_decorator(context.source, context.line, trace.own_sources)
    for name, one in () if told is not None else _called(trace, context):
        forgetful = next(_forgetful(one, trace.own_sources), None)
        told = (name, *forgetful) if forgetful is not None else told
    if told is None:
        return found
    name, decorator, function, source = told
    place = file_line(source.path, function.lineno)
    text = f"return {_given_back(function)}"
    found.condition = say("decorated-none", lang, x=name, d=decorator, f=function.name, place=place)
    found.origins = [Origin(function.name, "data", "", None, None, place=place), Origin(name, "data")]
    found.remedies = [Remedy("decorated-return", (("x", function.name), ("y", text)), text, "rule")]
    return found


_Told = tuple[str, Function, SourceFile]
"""A decorator as it is written, the function that gives nothing back, and its file."""


def _called(trace: Trace, context: NameContext) -> Iterator[tuple[str, OwnDefinition]]:
    """The functions and classes of the user's own that the line calls, with the name by which it does."""
    for nodes in nodes_of(trace.frames[-1]):
        functions = {ast.unparse(one.func): one.func for one in nodes if isinstance(one, ast.Call)}
        for name, func in functions.items():
            if isinstance(func, ast.Name) and (one := definition_at(func.id, context, trace.own_sources)) is not None:
                yield name, one
            elif isinstance(func, ast.Attribute):
                methods = [
                    method
                    for file in trace.own_sources
                    for method in functions_of(file)
                    if method.owner is not None and method.name == func.attr
                ]
                if len(methods) == 1:
                    yield name, OwnDefinition(methods[0].function, methods[0].source)


def _at_decorator(
    source: SourceFile, line: int, files: Sequence[SourceFile]
) -> tuple[str, str, Function, SourceFile] | None:
    """The same where the line is a decorator with brackets, and what it calls gives no decorator."""
    for node in ast.walk(source.tree):
        for decorator in node.decorator_list if isinstance(node, _DEFINITIONS) else ():
            if isinstance(decorator, ast.Call) and decorator.lineno <= line <= (decorator.end_lineno or 0):
                found = _function(decorator.func, source, files)
                if found is not None and _gives_none(found):
                    return ast.unparse(decorator), ast.unparse(decorator.func), found.function, found.source
    return None


def _forgetful(one: OwnDefinition, files: Sequence[SourceFile]) -> Iterator[_Told]:
    """The decorators of a definition that give nothing back."""
    for decorator in one.node.decorator_list:
        made_by = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = _function(made_by, one.source, files)
        if found is not None and isinstance(decorator, ast.Call):
            inner = {node.name: node for node in ast.walk(found.function) if isinstance(node, _DEFINITIONS[:2])}
            names = [ast.unparse(node.value) for node in found.returned if node.value is not None]
            found = OwnFunction(inner[names[0]], None, found.source) if len(names) == 1 and names[0] in inner else None
        if found is not None and _gives_none(found):
            yield ast.unparse(decorator), found.function, found.source


def _function(name: ast.expr, source: SourceFile, files: Sequence[SourceFile]) -> OwnFunction | None:
    found = definition(name.id, source, files) if isinstance(name, ast.Name) else None
    if found is None or isinstance(found.node, ast.ClassDef):
        return None
    return OwnFunction(found.node, None, found.source)


def _gives_none(one: OwnFunction) -> bool:
    return one.may_end and not one.is_generator and all(node.value is None for node in one.returned)


def _given_back(function: Function) -> str:
    """What a decorator has to give back: the function that is written in it, else the one that it got."""
    inner = [node.name for node in function.body if isinstance(node, _DEFINITIONS)]
    names = parameters(function)
    return inner[-1] if inner else names[0] if names else "..."
