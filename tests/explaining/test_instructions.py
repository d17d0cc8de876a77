"""What a message tells the user to do becomes a suggestion, and what it does not say becomes none."""

from __future__ import annotations

import pytest

from troubleshooter.explaining.message.advice import allowed, replacements, settings
from troubleshooter.explaining.message.instructions import (
    instructions,
    one_of,
    quoted,
    refused,
    repeated,
    respelled,
    unset,
)
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.place.holes import labels
from troubleshooter.explaining.source.own_lines import tied


def told(message: str, *names: str, **passed: str) -> list[str | None]:
    """The codes of what a message says. ``names``: arguments that the condition speaks of; ``passed``: the user's own."""
    return [one.code for one in instructions(message, {name: Origin(name, "argument") for name in names}, passed)]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("It was saved in pieces. Please use `load_pieces` instead.", "load_pieces"),
        ("'map' is not a valid kind, use the Map() feature instead", "Map()"),
        ("Please make sure to call maker.prepare() before", "maker.prepare()"),
        ("you must pass the model's reader to the `reader` argument of `run`", "reader=..."),
        ("No layers were found. Please check `plan.target_layers`.", "target_layers=..."),
    ],
)
def test_an_instruction_is_taken_from_the_message(message: str, code: str):
    assert told(message)[0] == code


@pytest.mark.parametrize(
    "message",
    [
        "If you want to stop early, use `patience` instead",
        "look it up, check versions_table.py",
        "You should use a newer one",
        "a kind that is used instead",
    ],
)
def test_other_words_are_no_instruction(message: str):
    assert told(message) == []


@pytest.mark.parametrize(
    ("message", "passed", "code"),
    [
        ("model must be a TunedModel", {"model": "net"}, "model=TunedModel(...)"),
        ("fingerprint must be a non-empty string", {"fingerprint": "7"}, "fingerprint=str(7)"),
        ("expected 'f' to be string, path or a file", {"f": "3"}, "f=str(3)"),
        ("share should be a float below 1", {"share": "1.5"}, None),
        ("words must be a list of texts", {"words": "'a'"}, None),
        ("the other must be a Model", {"model": "net"}, None),
        ("model must be None", {"model": "net"}, None),
    ],
)
def test_the_class_that_an_argument_has_to_be_of(message: str, passed: dict[str, str], code: str | None):
    assert told(message, **passed) == ([code] if code else [])


def test_the_class_of_a_column_that_the_condition_asks_for():
    message = "rejected should be an str but got <class 'list'>"
    assert [one.code for one in instructions(message, {}, {}, {"rejected"})] == ["rejected=str(...)"]
    assert not list(instructions(message, {}, {}, {"chosen"}))


def test_a_function_of_the_users_has_to_return_something():
    found = list(instructions("score must return keys ['a'] in its dict.", {}, {"score": "score"}))
    assert [one.key for one in found] == ["do-return"]
    assert dict(found[0].values)["y"] == "keys ['a'] in its dict"
    assert told("score must return a list") == []


@pytest.mark.parametrize(
    ("width", "heads", "code"), [("30", "4", ["heads=3"]), ("n", "heads", ["width=..."]), ("32", "4", ["width=..."])]
)
def test_a_message_says_what_has_to_divide_what(width: str, heads: str, code: list[str]):
    assert told("width must be divisible by heads", width=width, heads=heads) == code
    assert told("width must be divisible by heads[1]", width=width, heads=heads) == []


def test_an_argument_that_is_wanted_is_given_unless_it_was():
    message = "You must provide `board`"
    assert told(message, "board") == ["board=..."]
    given = {"board": Origin("board", "argument", value="x", passed=True)}
    assert list(instructions(message, given, {"board": "x"})) == []


@pytest.mark.parametrize(
    ("message", "passed", "code"),
    [
        ("Net cannot be built under `dtype=torch.int8`", {"dtype": "'int8'", "size": "3"}, ["dtype=..."]),
        ("Target layer Norm(3) is not supported", {"target_layers": "['norm']", "rank": "2"}, ["target_layers=..."]),
        ("rank and size are not supported", {"rank": "2", "size": "3"}, []),
        ("a rank of 2", {"rank": "2"}, []),
    ],
)
def test_the_one_argument_that_a_message_refuses(message: str, passed: dict[str, str], code: list[str]):
    assert [one.code for one in refused(message, passed)] == code


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("No layers. Please load an adapter first.", "Please load an adapter first"),
        ("Bad size. Use a whole number, e.g. 5", "Use a whole number"),
        ("It is off, please set it to False", "please set it to False"),
        ("If this is meant, set strict=False in the plan.", None),
        ("Please report this as a bug of ours", None),
        ("must be real number, not str", None),
        ("please provide valid information", None),
        ("The use of this is up to you", None),
    ],
)
def test_an_instruction_is_shown_as_it_stands_where_nothing_else_is(message: str, sentence: str | None):
    assert [dict(one.values)["x"] for one in quoted(message)] == ([sentence] if sentence else [])


def test_what_a_list_holds_twice_is_held_once():
    assert [one.code for one in repeated("Duplicate column 'a'", {"columns": "['a', 'b', 'a']"})] == [
        "columns=['a', 'b']"
    ]
    assert [one.key for one in repeated("names must all be different", {"names": "{'a': 'x', 'b': 'x'}"})] == [
        "do-distinct"
    ]
    assert not list(repeated("Duplicate column 'a'", {"columns": "['a', 'b']", "rest": "[[1], [1]]"}))
    assert not list(repeated("no such column", {"columns": "['a', 'a']"}))
    assert not list(repeated("`out` holds duplicates", {"sizes": "[8, 8]"}))


def test_the_listed_values_belong_to_the_one_argument_that_was_compared():
    message = "Unknown loss type: simpo. Should be one of ['sigmoid', 'hinge']"
    assert [one.code for one in one_of(message, {"loss_type"})] == ["loss_type=..."]
    assert not list(one_of(message, {"loss_type", "loss"}))
    assert not list(one_of(message, {"kind"}))
    assert not list(one_of("lmbda must be in the range [0.0, 1.0]", {"lmbda"}))
    assert not list(one_of("the name is already there: ['name', 'text']", {"name"}))


def test_what_the_message_says_to_unset_is_left_out():
    message = "A checkpoint has its own; unset these overrides: width, depth."
    assert [one.code for one in unset(message, {"width": "8", "kind": "'x'"})] == ["width=None"]
    assert not list(unset("width is not set", {"width": "8"}))


def test_a_setting_behind_set_is_an_instruction_also_after_when():
    assert [one.code for one in settings("When using several, set frozen to True for all", {})] == ["frozen=True"]
    assert not list(settings("If this is meant, set strict to False in the plan", {}))
    assert not list(settings("When frozen=True nothing is trained", {}))


@pytest.mark.parametrize(
    ("message", "text", "code"),
    [
        (r"Name should match '^\w+(\.\w+)*$' but got 'test-hard'.", "test-hard", "name='test_hard'"),
        ("Bad characters from '<>:' found in '12:00 b'", "12:00 b", "name='12_00 b'"),
        (r"Name should match '^\d+$' but got 'test-hard'.", "test-hard", None),
        ("got 'test-hard'", "test-hard", None),
        (r"Name should match '^(\w+$' but got 'test-hard'.", "test-hard", None),
    ],
)
def test_a_text_is_written_without_what_the_message_refuses(message: str, text: str, code: str | None):
    assert [one.code for one in respelled(message, {text: "name"})] == ([code] if code else [])


def test_the_values_that_do_may_be_quoted_words_or_what_is_there():
    assert allowed("Device ram is not known, available devices are 'gpu', 'cpu' and 'disk'") == ["gpu", "cpu", "disk"]
    assert allowed("not found: b. current loaded parts are: ['a']") == ["a"]
    assert allowed("allowed is 'a', but got 'b' or 'c'") == []


def test_a_refused_text_is_one_of_the_users_that_the_message_repeats():
    message = "No such tracker: boards. Choose between ['all', 'wand']"
    assert [one.code for one, _ in replacements(message, {"boards": "log_with"})] == ["log_with=..."]
    assert not list(replacements(message, {"other": "log_with"}))
    assert not list(replacements("at least one of a or b, please pass model", {"model": "kind"}))


def test_a_message_says_what_it_calls_a_value():
    class Hole:
        expression = "n"

    assert labels(("The test_size = ", Hole())) == {"n": "test_size"}
    assert labels(("a size (", Hole())) == {"n": "size"}
    assert labels(("got ", Hole())) == {}


def test_a_value_whose_way_is_lost_is_the_users_where_the_message_shows_it():
    lost = Origin("size", "argument", lost=True)
    assert tied(lost, {"size": "5"}, "a size of 5", "5") == lost._replace(value="5", passed=True, lost=False)
    assert tied(lost, {"size": "5"}, "a size of 6", "6") is lost
    assert tied(lost, {"size": "5"}, "nothing of it", None) is lost
    assert tied(lost, {}, "a size of 5", "5") is lost


def test_a_pattern_that_a_log_shows_takes_linear_time() -> None:
    """Python's own `re` would need 2 to the power of 60 steps for this one."""
    text = "a" * 60 + "!"
    assert list(respelled(f"the name '{text}' must match '^(a+)+b$'", {text: "name"})) == []
    [told] = respelled("the name 'my run' must match '^[a-z_]+$'", {"my run": "name"})
    assert dict(told.values)["y"] == "'my_run'"
