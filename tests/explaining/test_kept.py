"""Values that the user's file gives on another line than the traceback shows: to a configuration, in a dictionary, as an attribute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.parts import Explained

SETTINGS = """
from dataclasses import dataclass
from typing import Literal

@dataclass
class WidgetConfig:
    rank: int = 8
    rate: float = 0.1
    bias: Literal["none", "all", "widget_only"] = "none"
    per_tray_size: int = 4
    sheen: str = "matt"

    @property
    def tray_size(self):
        size = self.per_tray_size * max(1, self.n_trays)
        return size

    @property
    def n_trays(self):
        return 1
"""
LIBRARY = """
from widget.settings import WidgetConfig

def build(model, widget_config):
    plan = {"rank": widget_config.table.get(model, widget_config.rank)}
    plan["label"] = model
    return place(model, **plan)

def place(model, **others):
    return Layer(model, **others)

class Layer:
    def __init__(self, model, rank=0, label=""):
        if rank <= 0:
            raise ValueError("no rank")

class Plant:
    def __init__(self, config: WidgetConfig):
        self.config = config

    def run(self):
        return mill(**self.speeds(self.config))

    def speeds(self, config):
        speeds = {"rate": config.rate}
        return None, speeds

    def fill(self):
        return pack(self.config.tray_size)

    def gloss(self):
        return polish(self.config.sheen)

def mill(rate=0.5):
    if not 0.0 <= rate:
        raise ValueError("no rate")

def pack(size):
    if not isinstance(size, int) or size <= 0:
        raise ValueError(f"size should be a positive integer, but got size={size}")

def polish(sheen):
    if sheen not in ("matt", "gloss"):
        raise ValueError(f"unknown sheen {sheen}")

def paint(*pots, **options):
    return brush(**options)

def brush(strokes=(1, 2)):
    return strokes[0]

def mark(config: WidgetConfig):
    bias = config.bias
    if bias == "none":
        return
    if bias == "all":
        return
    if bias.endswith("_only"):
        return
    raise NotImplementedError(f"bias {bias} is not implemented")

def trim(style):
    if style == "none":
        return
    if style == "all" or style.endswith("_only"):
        return
    else:
        raise NotImplementedError(f"style {style} is not implemented")

def check(**fields):
    raise CheckError(fields)

def dim(share):
    if share < 0.0 or share > 1.0:
        raise ValueError(f"share has to be between 0 and 1, but got {share}")

def heat(warmth):
    if not isinstance(warmth, float) or warmth <= 0:
        raise ValueError(f"`warmth` (={warmth}) has to be a strictly positive float")

def dye(colour):
    if "madder" in colour:
        raise ValueError(f"no {colour} today")

SHADES = {"matt": 1, "gloss": 2}

def shade(config: WidgetConfig):
    return SHADES[config.sheen["kind"]]

class Lathe:
    def __init__(self, turns=1, speed=2):
        self.turns = turns
        self.speed = speed

    def step(self):
        return self.turns - 1

    def cut(self):
        return compiled.spin(
            1, self.speed
        )
"""
TEXT_AND_INT = "TypeError: '<=' not supported between instances of 'str' and 'int'"


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., Explained]:
    """The explanation of a run: ``told(the user's file, its line, [(text of a line, function), …], message)``.

    ``here``: whether the user's file is on this machine.
    """
    site = tmp_path / "site-packages"
    files = {
        "widget/core.py": LIBRARY,
        "widget/settings.py": SETTINGS,
        "widget/__init__.py": "from .settings import WidgetConfig\n",
    }
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def explanation(
        own: str, line: str, frames: list[tuple[str, str]], message: str, *, here: bool = True
    ) -> Explained:
        path = tmp_path / "train.py"
        if here:
            path.write_text(own, encoding="utf-8")
        number = next(n for n, text in enumerate(own.splitlines(), 1) if line in text)
        log = [
            "Traceback (most recent call last):",
            f'  File "{path}", line {number}, in <module>',
            f"    {own.splitlines()[number - 1]}",
        ]
        lines = LIBRARY.splitlines()
        for text, function in frames:
            number = next(n for n, one in enumerate(lines, 1) if text in one)
            log += [
                f'  File "/opt/venv/lib/python3.11/site-packages/widget/core.py", line {number}, in {function}',
                f"    {lines[number - 1].strip()}",
            ]
        [found] = Diagnoser.of([], folders=[str(site)]).diagnose("\n".join([*log, message]) + "\n").explained
        return found

    return explanation


Told = Callable[..., Explained]
BUILD = [("return place(model, **plan)", "build"), ("return Layer(", "place"), ("if rank <= 0", "__init__")]
SPEEDS = [("return mill(", "run"), ("if not 0.0 <= rate", "mill")]


def first(found: Explained) -> tuple[str, str | None, str]:
    one = found["arguments"][0]
    return one["name"], one["value"], one["why"]


def codes(found: Explained) -> list[str | None]:
    return [one["code"] for one in found["suggestions"]]


def test_a_text_for_a_number_that_a_configuration_got_on_another_line(told: Told):
    own = 'from widget import WidgetConfig\nconfig = WidgetConfig(rank="8", rate=1.0)\nbuild(model, config)\n'
    found = told(own, "build(", BUILD, TEXT_AND_INT)
    assert first(found) == ("rank", "'8'", "train.py:2 gives it")
    assert codes(found) == ["rank=8"]


def test_without_the_users_file_the_option_is_named_and_no_default_of_the_library_is_claimed(told: Told):
    found = told("build(model, config)\n", "build(", BUILD, TEXT_AND_INT, here=False)
    assert first(found)[:2] == ("rank", None)
    assert codes(found) == ["rank=int(...)"]


def test_an_option_under_another_name_in_what_a_function_returns(told: Told):
    own = 'options = {"rate": "2e-5"}\nplant = Plant(WidgetConfig(**options))\nplant.run()\n'
    found = told(own, "plant.run", SPEEDS, "TypeError: '<=' not supported between instances of 'float' and 'str'")
    assert first(found) == ("rate", "'2e-5'", "train.py:1 gives it")
    assert codes(found) == ["rate=2e-05"]


def test_an_attribute_that_the_users_file_sets(told: Told):
    own = 'config = WidgetConfig()\nconfig.rank = "8"\nbuild(model, config)\n'
    assert first(told(own, "build(", BUILD, TEXT_AND_INT)) == ("rank", "'8'", "train.py:2 gives it")


def test_a_name_stands_for_the_only_value_that_the_file_gives_it(told: Told):
    own = 'size = "8"\nconfig = WidgetConfig(rank=size)\nbuild(model, config)\n'
    assert codes(told(own, "build(", BUILD, TEXT_AND_INT)) == ["rank=8"]
    twice = 'size = "8"\nsize = read(size)\nconfig = WidgetConfig(rank=size)\nbuild(model, config)\n'
    assert codes(told(twice, "build(", BUILD, TEXT_AND_INT)) == ["rank=int(size)"]


def test_two_values_of_one_name_are_neither_named(told: Told):
    own = 'one = WidgetConfig(rank="8")\ntwo = OtherConfig(rank="16")\nbuild(model, one)\n'
    assert first(told(own, "build(", BUILD, TEXT_AND_INT))[1] is None


def test_a_property_is_what_it_is_worked_out_from(told: Told):
    frames = [("return pack(", "fill"), ('raise ValueError(f"size should', "pack")]
    message = "ValueError: size should be a positive integer, but got size=4"
    own = 'config = WidgetConfig(\n    per_tray_size="4",\n)\nPlant(config).fill()\n'
    found = told(own, "fill()", frames, message)
    assert first(found) == ("per_tray_size", "'4'", "train.py:2 gives it")
    assert "per_tray_size" in str(told("plant.fill()\n", "fill()", frames, message, here=False)["arguments"])


def test_the_entries_of_a_dictionary_that_the_line_passes_on(told: Told):
    own = 'options = {"strokes": 3}\npaint("red", **options)\n'
    frames = [("return brush(", "paint"), ("return strokes[0]", "brush")]
    found = told(own, "paint(", frames, "TypeError: 'int' object is not subscriptable")
    assert first(found)[:2] == ("strokes", "3")


def test_a_value_that_the_annotation_does_not_list_becomes_the_one_meant(told: Told):
    mark = [("raise NotImplementedError(", "mark")]
    message = "NotImplementedError: bias widget is not implemented"
    own = 'from widget import WidgetConfig\nconfig = WidgetConfig(bias="widget")\nmark(config)\n'
    assert codes(told(own, "mark(", mark, message))[0] == "bias='widget_only'"


def test_without_the_annotation_no_single_value_is_suggested_where_an_ending_decides(told: Told):
    frames = [('raise NotImplementedError(f"style', "trim")]
    found = told("trim(style)\n", "trim(", frames, "NotImplementedError: style widget is not implemented", here=False)
    assert codes(found) == ["style=..."]
    assert "'all', 'none', '…_only'" in found["suggestions"][0]["do"]


def test_a_field_of_which_the_message_tells_both_classes(told: Told):
    frames = [("raise CheckError(", "check")]
    message = "widget.CheckError: Validation error for field 'rank':\n    TypeError: Field 'rank' expected int, got str (value: '64')"
    found = told('check(rank="64", name="7")\n', "check(", frames, message)
    assert first(found)[:2] == ("rank", "'64'")
    assert codes(found) == ["rank=64"]
    other = message.replace("(value: '64')", "(value: 'many')").replace("expected int", "expected list")
    assert codes(told('check(rank="many")\n', "check(", frames, other)) == ["rank=..."]


def test_a_number_that_the_message_shows_is_no_text_where_it_breaks_another_rule(told: Told):
    frames = [("return pack(", "fill"), ('raise ValueError(f"size should', "pack")]
    own = "config = WidgetConfig(per_tray_size=-4)\nPlant(config).fill()\n"
    found = told(own, "fill()", frames, "ValueError: size should be a positive integer, but got size=-4")
    assert not any("int(" in (code or "") for code in codes(found))


def test_a_number_outside_of_two_bounds_gets_both(told: Told):
    frames = [('raise ValueError(f"share', "dim")]
    message = "ValueError: share has to be between 0 and 1, but got 10"
    found = told("dim(share=10)\n", "dim(", frames, message)
    assert "0.0 <= share <= 1.0" in found["suggestions"][0]["do"]


@pytest.mark.parametrize("here", [True, False])
def test_what_the_message_shows_as_a_fitting_number_is_a_text(told: Told, here: bool):
    frames = [('raise ValueError(f"`warmth`', "heat")]
    message = "ValueError: `warmth` (=0.7) has to be a strictly positive float"
    found = told('warmth = "0.7"\nheat(warmth)\n', "heat(", frames, message, here=here)
    assert codes(found) == ["warmth=0.7" if here else "warmth=float(...)"]


def test_no_word_is_cut_out_of_a_value(told: Told):
    frames = [('raise ValueError(f"no {colour}', "dye")]
    found = told('dye(colour="rose_madder")\n', "dye(", frames, "ValueError: no rose_madder today")
    assert "colour='rose__'" not in codes(found)


def test_a_refused_part_of_a_value_is_replaced_and_not_the_whole_value(told: Told):
    own = 'config = WidgetConfig(sheen={"kind": "glos", "coats": 2})\nshade(config)\n'
    found = told(own, "shade(", [("return SHADES[", "shade")], "KeyError: 'glos'")
    assert codes(found) == ["'gloss'"]


def test_what_an_object_was_made_with_on_another_line(told: Told):
    own = 'lathe = Lathe(turns="10")\nlathe.step()\n'
    message = "TypeError: unsupported operand type(s) for -: 'str' and 'int'"
    found = told(own, "step()", [("return self.turns - 1", "step")], message)
    assert first(found) == ("turns", "'10'", "train.py:1 gives it")
    assert codes(found) == ["turns=10"]


def test_the_argument_at_a_position_of_a_compiled_function(told: Told):
    own = 'lathe = Lathe(speed="3")\nlathe.cut()\n'
    message = "TypeError: spin(): argument 'v' (position 2) must be int, not str"
    found = told(own, "cut()", [("return compiled.spin(", "cut")], message)
    assert codes(found) == ["speed=3"]


def test_the_only_text_that_is_a_number_and_two_of_them(told: Told):
    frames = [("return strokes[0]", "brush")]
    message = "TypeError: slice indices must be integers or None or have an __index__ method"
    own = 'plan = WidgetConfig(rank="16", bias="none")\nbrush(plan)\n'
    assert codes(told(own, "brush(plan", frames, message)) == ["rank=16"]
    two = 'plan = WidgetConfig(rank="16", rate="2")\nbrush(plan)\n'
    assert codes(told(two, "brush(plan", frames, message)) == []
    assert codes(told(own, "brush(plan", frames, message, here=False)) == []
