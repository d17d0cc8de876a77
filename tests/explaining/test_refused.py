"""Values and classes of the user's own call that a library refuses without a condition of its own: members, keys, texts, classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshooter.explaining.source.annotations import admits
from troubleshooter.explaining.source.sources import SourceFile, Sources
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.parts import Explained

LIBRARY = """
from enum import Enum
from gizmo.tables import SHAPES, Part, PartLike

class Backend(str, Enum):
    NO = "NO"
    EAGER = "EAGER"
    INDUCTOR = "INDUCTOR"

class Plugin:
    def __init__(self, backend=None):
        self.backend = Backend(backend.upper())

def connect(speed="slow", backend=None):
    return Backend(backend.upper())

def look_up(shape=None, **others):
    return SHAPES[shape]

def first(rows, field="text"):
    return rows[field]

def fill(table: dict[str, int] | list[dict[str, int]], title: str = ""):
    return table.items()

def build(part: PartLike, name: str = ""):
    return part()

def loose(part: "Unknown", name: str = ""):
    return part()

def step(rate=0.1, parameters=None, limit: int | None = None):
    if rate <= 0:
        raise ValueError("no rate")
    for one in parameters:
        one.move()
    if limit <= 0:
        raise ValueError("no limit")

def start(kind=None):
    if kind is True:
        return 1
    elif kind.lower() == "gaussian":
        return 2
    raise ValueError(f"Unknown start kind={kind!r}")

def apply(function=None, rows=()):
    return function(rows, extra=1)

def own_step(function=None):
    return start(kind=1, extra=2)

def sum_up(data=None):
    return sum(data["label"])

def join(parts):
    for part in parts:
        if not isinstance(part, Piece):
            raise ValueError("a list of pieces, please")

def grow(count, title=""):
    return made(count)

def due(self, size=None):
    return self.now % self.size

def locate(files=None, formats=None):
    return resolve(files)

def resolve(pattern, formats=None):
    if formats is None:
        raise FileNotFoundError(f"Unable to find {pattern!r}")
"""
TABLES = """
from typing import Union

class Part:
    pass

PartLike = Union[dict, list, Part]
SHAPES = {"circle": 1, "square": 2, "triangle": 3}
"""
FORMATTING = """
class LazyRow:
    def __getitem__(self, key):
        value = self.data[key]

    def check(self, name):
        raise ValueError(f"Column '{name}' doesn't exist.")
"""


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., Explained | None]:
    """The explanation of a failure: ``told(own_line, [(text of a line, function), …], message)``."""
    site = tmp_path / "site-packages"
    files = {"gizmo/core.py": LIBRARY, "gizmo/tables.py": TABLES, "datasets/formatting/formatting.py": FORMATTING}
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def explanation(own: str, frames: list[tuple[str, str]], message: str) -> Explained | None:
        log = ["Traceback (most recent call last):", '  File "/home/me/train.py", line 7, in <module>', f"    {own}"]
        for text, function in frames:
            if text == "enum":
                log += ['  File "/nowhere/lib/python3.11/enum.py", line 1135, in __new__', "    raise ve_exc"]
                continue
            file = next(name for name, whole in files.items() if text in whole)
            lines = files[file].splitlines()
            number = next(n for n, line in enumerate(lines, 1) if text in line)
            log += [
                f'  File "/opt/venv/lib/python3.11/site-packages/{file}", line {number}, in {function}',
                f"    {lines[number - 1].strip()}",
            ]
        report = Diagnoser.of([], folders=[str(site)]).diagnose("\n".join([*log, message]) + "\n")
        return report.explained[0] if report.explained else None

    return explanation


Told = Callable[..., Explained]


def names(found: Explained) -> list[str]:
    return [one["name"] for one in found["arguments"]]


def codes(found: Explained) -> list[str | None]:
    return [one["code"] for one in found["suggestions"]]


CONNECT = [("return Backend(backend", "connect"), ("enum", "__new__")]


def test_a_value_that_is_no_member_gets_the_nearest_member_in_the_users_letters(told: Told):
    found = told('connect(backend="inductr")', CONNECT, "ValueError: 'INDUCTR' is not a valid Backend")
    assert names(found)[0] == "backend"
    assert codes(found) == ["backend='inductor'"]
    assert "Backend" in found["condition"]


def test_a_value_that_is_like_no_member_gets_all_of_them(told: Told):
    found = told('connect(backend="xyz")', CONNECT, "ValueError: 'XYZ' is not a valid Backend")
    assert codes(found) == ["backend=..."]
    assert "'no', 'eager', 'inductor'" in found["suggestions"][0]["do"]


def test_a_message_of_the_users_own_about_validity_is_no_member(told: Told):
    found = told(
        'connect(backend="x")', [('raise ValueError("no rate")', "step")], "ValueError: x is not a valid backend"
    )
    assert "member" not in found["condition"]


def test_a_key_that_a_table_lacks_gets_the_nearest_key(told: Told):
    found = told('look_up(shape="sqare")', [("return SHAPES", "look_up")], "KeyError: 'sqare'")
    assert names(found)[0] == "shape"
    assert codes(found) == ["shape='square'"]


def test_a_key_that_the_log_shows_nowhere_names_no_value_of_the_user(told: Told):
    found = told('look_up(shape=kind, size="large")', [("return SHAPES", "look_up")], "KeyError: 'sqare'")
    assert "size" not in names(found)
    assert codes(found) in ([], ["shape='square'"])


def test_a_column_that_rows_lack_is_asked_of_the_argument_that_names_it(told: Told):
    frames = [("return rows[field]", "first"), ("value = self.data[key]", "__getitem__")]
    found = told('first(rows, field="content")', frames, "KeyError: 'content'")
    assert names(found)[0] == "field"
    assert "column" in found["condition"]
    assert codes(found) == ["field=..."]


def test_a_text_in_the_place_of_a_number_becomes_one(told: Told):
    line = [("if rate <= 0", "step")]
    message = "TypeError: '<=' not supported between instances of 'str' and 'int'"
    assert codes(told('step(rate="0.5")', line, message)) == ["rate=0.5"]
    assert codes(told('step(rate=config["lr"])', line, message)) == ["rate=int(config['lr'])"]


def test_two_numbers_are_no_text_in_the_place_of_one(told: Told):
    found = told(
        "step(rate=rows)", [("if rate <= 0", "step")],
        "TypeError: '<=' not supported between instances of 'list' and 'int'",
    )  # fmt: skip
    assert not any("int(" in (code or "") for code in codes(found))


def test_a_model_in_the_place_of_its_parameters(told: Told):
    line = [("for one in parameters", "step")]
    found = told("step(parameters=model)", line, "TypeError: 'Linear' object is not iterable")
    assert codes(found) == ["parameters=model.parameters()"]
    assert codes(told("step(parameters=None)", line, "TypeError: 'NoneType' object is not iterable")) != [
        "parameters=None.parameters()"
    ]


def test_a_value_that_its_annotation_refuses_is_named(told: Told):
    message = "AttributeError: 'str' object has no attribute 'items'"
    found = told('fill("a text", title="b")', [("return table.items", "fill")], message)
    assert names(found)[0] == "table"
    assert "list[dict[str, int]]" in found["suggestions"][0]["do"]


def test_an_alias_of_types_is_followed_and_an_unknown_one_is_not(told: Told):
    message = "TypeError: 'str' object is not callable"
    assert names(told('build("gear", "x")', [("return part()", "build")], message))[0] == "part"
    unknown = told('loose("gear", "x")', [("return part()", "loose")], message)
    assert unknown["suggestions"] == []


def test_a_path_of_the_users_call_is_named_and_not_what_the_library_left_out(told: Told):
    frames = [("return resolve", "locate"), ("raise FileNotFoundError", "resolve")]
    found = told(
        'locate(files={"train": "data/a.csv"})', frames, "FileNotFoundError: Unable to find '/home/me/data/a.csv'"
    )
    assert names(found)[0] == "files"
    assert [one["do"] for one in found["suggestions"]] == ["Give `files` a path that exists"]


def test_a_text_that_the_message_does_not_show_is_not_named(told: Told):
    frames = [("return resolve", "locate"), ("raise FileNotFoundError", "resolve")]
    found = told(
        'locate(files=path, note="data/b.csv")', frames, "FileNotFoundError: Unable to find '/home/me/data/a.csv'"
    )
    assert "note" not in names(found)


def test_the_text_that_the_function_compares_with_is_the_one_meant(told: Told):
    line = [('raise ValueError(f"Unknown', "start")]
    assert (
        codes(told('start(kind="guassian")', line, "ValueError: Unknown start kind='guassian'"))[0] == "kind='gaussian'"
    )
    assert "kind='gaussian'" not in codes(told('start(kind="zeros")', line, "ValueError: Unknown start kind='zeros'"))


@pytest.mark.parametrize(
    ("annotation", "kind", "is_admitted"),
    [
        ("list[str]", "str", False), ("str | None", "str", True), ("Optional[Union[str, int]]", "str", True), ("float", "int", True),
        ("Literal['a', 'b']", "str", True), ("Anything", "str", None), ("'list[int]'", "str", False), ("dict | Anything", "str", None),
        ("", "str", None), ("(", "str", None),
    ],
)  # fmt: skip
def test_which_classes_an_annotation_admits(annotation: str, kind: str, is_admitted: bool | None):
    source = SourceFile("/x/a.py", "a.py", "")
    assert admits(annotation, kind, source, Sources()) is is_admitted


APPLY = [("return function(rows", "apply")]
UNEXPECTED = "TypeError: score() got an unexpected keyword argument 'extra'"


def test_a_function_of_the_users_that_a_library_calls_has_to_take_what_it_gets(told: Told):
    found = told("apply(function=score)", APPLY, UNEXPECTED)
    assert names(found)[0] == "score"
    assert codes(found) == ["def score(..., **kwargs):"]
    assert "your function `score`" in found["condition"]
    assert codes(told("trainer.train()", APPLY, UNEXPECTED)) == [
        "def score(..., **kwargs):"
    ]  # no library file names it


def test_more_and_fewer_arguments_of_the_users_function(told: Told):
    more = told("apply(function=score)", APPLY, "TypeError: score() takes 1 positional argument but 2 were given")
    assert [one["do"] for one in more["suggestions"]] == ["Let `score` take 2 arguments"]
    fewer = told("apply(lambda a, b: a)", APPLY, "TypeError: <lambda>() missing 1 required positional argument: 'b'")
    assert codes(fewer) == ["b=None"]


@pytest.mark.parametrize(
    "message",
    [
        "TypeError: start() got an unexpected keyword argument 'extra'",
        "TypeError: Model.score() got an unexpected keyword argument 'extra'",
    ],
)
def test_a_function_of_the_librarys_own_is_no_function_of_the_users(told: Told, message: str):
    for line in (APPLY, [("return start(", "own_step")]):
        assert "your function" not in told("trainer.train()", line, message)["condition"]


def test_a_column_that_the_library_asks_for_and_one_that_the_user_asks_for(told: Told):
    check = ('raise ValueError(f"Column', "check")
    found = told(
        "sum_up(dataset=rows)", [("return sum(data", "sum_up"), check], "ValueError: Column 'label' doesn't exist."
    )
    assert codes(found) == ["rows.rename_column(\"...\", 'label')"]
    mine = told('rows["lable"]', [check], "ValueError: Column 'lable' doesn't exist.")
    assert "library needs" not in mine["condition"]


def test_a_dictionary_in_the_place_of_a_list(told: Told):
    line = [("a list of pieces", "join")]
    found = told('join({"one": one, "two": two})', line, "ValueError: a list of pieces, please")
    assert codes(found) == ["parts=list({'one': one, 'two': two}.values())"]
    assert codes(told("join([one, two])", line, "ValueError: a list of pieces, please")) == ["parts=..."]


def test_the_one_value_of_a_class_that_compiled_code_refuses(told: Told):
    grow = [("return made", "grow")]
    text = (
        "TypeError: empty(): argument 'size' (position 1) must be tuple of ints, but found element of type str at pos 0"
    )
    assert codes(told('grow("24")', grow, text)) == ["count=24"]
    assert codes(told('grow("24", title="8")', grow, text)) == []  # which of the two is not known
    mine = "TypeError: 'str' object is not an instance of 'list'"
    assert codes(told('BpeTrainer(vocab_size=10, special_tokens="<pad>")', [], mine)) == ["special_tokens=['<pad>']"]
    assert told("BpeTrainer(vocab_size=10, special_tokens=names)", [], mine) is None


def test_of_two_operands_the_text_is_the_one_to_turn(told: Told):
    due = [("return self.now", "due")]
    assert "size" in str(
        told("plan.due()", due, "TypeError: unsupported operand type(s) for %: 'int' and 'str'")["arguments"]
    )


def test_short_words_are_not_like_each_other(told: Told):
    found = told(
        'move("gpu")',
        [("return made", "grow")],
        "RuntimeError: Expected one of cpu, cuda, hpu device type at start of device string: gpu",
    )
    assert "'hpu'" not in codes(found)


def test_the_argument_that_compiled_code_names_while_it_reads_its_arguments(told: Told):
    dictionary = "TypeError: 'dict' object is not an instance of 'Sequence'\nwhile processing 'vocab'"
    assert codes(told('Unigram(vocab={"a": 0.5}, more={"b": 1})', [], dictionary)) == ["vocab=[('a', 0.5)]"]
    text = "TypeError: Can't extract `str` to `Vec`\nwhile processing 'ids'"
    found = told('grow("3 4")', [("return made", "grow")], text)
    assert [one["do"] for one in found["suggestions"]] == ["Give `count` as a `list`"]


def test_the_one_path_of_a_line_whose_message_names_none(told: Told):
    message = "Exception: No such file or directory (os error 2)"
    assert names(told('Tokenizer.from_file("tok/a.json")', [], message)) == ["tok/a.json"]
    assert told('Tokenizer.join("tok/a.json", "tok/b.json")', [], message) is None
    assert told("Tokenizer.from_file(path)", [], message) is None


def test_settings_that_a_message_lists_and_the_one_that_it_refuses(told: Told):
    line = [("a list of pieces", "join")]
    message = 'ValueError: `attention="flash"` is not supported. The only possible are `attention="flash_new"`, `attention="eager"`'
    assert codes(told('join(attention="flash")', line, message))[0] == "attention='flash_new'"
    assert "attention='flash_new'" not in codes(told('join(attention="eager")', line, message))
