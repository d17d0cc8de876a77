"""Messages of Python itself without a frame: what follows from them is told, and they are not taken for a library's own."""

from __future__ import annotations

import re

import pytest

from kb.index.store import PYTHONS_OWN
from kb.patterns import required_texts
from troubleshooter.explaining.message.python_messages import RULES
from troubleshooter.explaining.tensor import array_rules, operation_rules, requirements
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.explanation import sentences

TOOL = Diagnoser.of([])

TOLD = [
    ("TypeError: tuple indices must be integers or slices, not str", "such as a dictionary"),
    ("TypeError: string indices must be integers, not 'str'", "still text"),
    ("TypeError: 'NoneType' object is not subscriptable", "there was None"),
    ("TypeError: 'builtin_function_or_method' object is not subscriptable", "called with"),
    ("TypeError: 'tuple' object does not support item assignment", "cannot be changed"),
    ("TypeError: argument of type 'int' is not iterable", "`in` looked"),
    ("TypeError: argument of type 'gadget.Spring' is not a container or iterable", "`in` looked"),
    ("TypeError: 'async_generator' object is not iterable", "waited for"),
    ("TypeError: 'coroutine' object is not subscriptable", "waited for"),
    ("AttributeError: 'coroutine' object has no attribute 'wind'", "waited for"),
    ("TypeError: 'float' object is not iterable", "item by item"),
    ("TypeError: unhashable type: 'list'", "key of a dictionary"),
    ("IndexError: pop from empty list", "a list that was empty"),
    ("IndexError: pop from an empty deque", "a deque that was empty"),
    ("TypeError: 'NoneType' object is not callable", "is None"),
    ("TypeError: None is not a callable object", "is None"),
    ("TypeError: 'module' object is not callable", "same name"),
    ("TypeError: 'int' object is not callable", "taken the place"),
    ("TypeError: Can't instantiate abstract class Gadget with abstract method wind", "lacks wind"),
    ("TypeError: Can't instantiate abstract class Gadget without an implementation for abstract methods 'wind', 'stop'", "'wind', 'stop'"),
    ("TypeError: 'float' object cannot be interpreted as an integer", "whole number"),
    ("TypeError: '<=' not supported between instances of 'float' and 'str'", "read as text"),
    ("TypeError: can't multiply sequence by non-int of type 'float'", "read as text"),
    ("TypeError: float() argument must be a string or a real number, not 'NoneType'", "a `NoneType` was there"),
    ("TypeError: must be real number, not str", "a `str` was there"),
    ("TypeError: expected str, bytes or os.PathLike object, not NoneType", "a path was needed"),
    ("TypeError: stat: path should be string, bytes, os.PathLike or integer, not NoneType", "a path was needed"),
    ("TypeError: join() argument must be str, bytes, or os.PathLike object, not 'int'", "a `int` was there"),
    ("TypeError: unsupported format string passed to NoneType.__format__", "format for numbers"),
    ("TypeError: can only concatenate str (not \"int\") to str", "`int` was added to a `str`"),
    ("TypeError: sequence item 0: expected str instance, int found", "one of them is a `int`"),
    ("TypeError: not all arguments converted during string formatting", "more values"),
    ("TypeError: not enough arguments for format string", "more places"),
    ("TypeError: Object of type int64 is not JSON serializable", "no form"),
    ("TypeError: a bytes-like object is required, not 'str'", "bytes were needed"),
    ("TypeError: new(): data must be a sequence (got float)", "single `float`"),
    ("ValueError: invalid literal for int() with base 10: '1e3'", "'1e3'"),
    ("ValueError: could not convert string to float: 'abc'", "'abc'"),
    ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "no JSON"),
    ("json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 20)", "JSON Lines"),
    ("UnicodeDecodeError: 'utf-8' codec can't decode byte 0x80 in position 0: invalid start byte", "byte 0 is 0x80"),
    ("EOFError: Ran out of input", "empty or cut off"),
    ("OverflowError: can't convert negative value to unsigned int", "holds only 0 and more"),
    ("OverflowError: Python integer -1 out of bounds for uint8", "holds only 0 and more"),
    ("AttributeError: 'list' object has no attribute 'column_names'", "a data set was expected"),
    ("AttributeError: 'dict' object has no attribute 'turns'", "['turns']"),
    ("AttributeError: 'function' object has no attribute '__func__'", "a method of an object"),
    ("AttributeError: type object 'Spring' has no attribute 'wind'", "the class `Spring`"),
    ("AttributeError: can't set attribute 'turns'", "property"),
    ("AttributeError: property 'turns' of 'Spring' object has no setter", "property"),
    ("ImportError: attempted relative import with no known parent package", "as a script"),
    ("ImportError: cannot import name 'wind' from partially initialized module 'gadget' (most likely due to a circular import) (/opt/gadget.py)", "in a circle"),
    ("AttributeError: partially initialized module 'gadget' has no attribute 'wind' (most likely due to a circular import)", "in a circle"),
    ("AttributeError: module 'importlib' has no attribute 'util'", "imported by itself"),
    ("NameError: name 'spring' is", "nothing is named"),
    ("RuntimeError: There is no current event loop in thread 'Thread-1'.", "event loop"),
    ("RuntimeError: asyncio.run() cannot be called from a running event loop", "already running"),
    ("RuntimeError: dictionary changed size during iteration", "went through it"),
    ("AssertionError: daemonic processes are not allowed to have children", "worker process"),
    ("ValueError: signal only works in main thread of the main interpreter", "main thread"),
    ("ValueError: I/O operation on closed file.", "closed"),
    ("ruamel.yaml.constructor.DuplicateKeyError: while constructing a mapping", "twice"),
    ("IndexError: slice() cannot be applied to a 0-dim tensor.", "`slice`"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "told"), TOLD)
def test_what_follows_from_a_message_is_told_in_both_languages(message: str, told: str) -> None:
    [found] = TOOL.diagnose(message + "\n").explained
    assert told in found["condition"]
    assert (found["package"], found["basis"]) == ("", "rule")
    assert TOOL.diagnose(message + "\n", lang="zh").explained[0]["condition"] != found["condition"]


def test_every_rule_has_a_case() -> None:
    for exceptions, pattern, _ in RULES:
        assert any(
            message.partition(": ")[0].rpartition(".")[2] in exceptions.split()
            and pattern.search(message.partition(": ")[2])
            for message, _ in TOLD
        ), pattern


@pytest.mark.parametrize("name", ["RoundingMode", "__version__"])
def test_a_name_that_is_no_modules_is_not_said_to_need_an_import(name: str) -> None:
    [found] = TOOL.diagnose(f"AttributeError: module 'gadget.core' has no attribute '{name}'\n").explained
    assert "imported by itself" not in found["condition"]


@pytest.mark.parametrize(
    "message", ["'Spring' object has no attribute", "tuple indices must be integers or slices, not str", "'Spring' object is not"]
)  # fmt: skip
def test_python_s_own_messages_are_known_where_they_are_cut(message: str) -> None:
    assert PYTHONS_OWN.match(message)


@pytest.mark.parametrize(
    "row",
    [*operation_rules.RULES, *array_rules.RULES, *array_rules.NUMPY, *requirements.RULES],
    ids=lambda row: str(row[0]),
)
def test_a_rule_s_part_is_in_each_match_of_its_pattern(row: tuple[str, re.Pattern[str], object]) -> None:
    part, pattern, _ = row
    assert any(all(part.lower() in text for text in clause) for clause in required_texts(pattern.pattern))


def test_a_message_without_a_frame_names_no_place() -> None:
    report = TOOL.diagnose("TypeError: Object of type Gadget is not JSON serializable\n")
    assert sentences(report.explained[0], "en")[0].startswith("Because what was to be written as JSON")


@pytest.mark.parametrize("words", ["iterable", "a container or iterable"])
def test_what_in_looked_through_is_named_in_the_words_of_each_python(words: str) -> None:
    line = '  File "/home/u/gears.py", line 3, in turn\n    if key in springs:\n'
    [found] = TOOL.diagnose(f"{line}TypeError: argument of type 'NoneType' is not {words}\n").explained
    assert found["condition"].startswith("`springs` is")
