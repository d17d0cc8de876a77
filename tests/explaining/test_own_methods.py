"""Methods of the user's own classes that a library calls with arguments which they do not take."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

LIBRARY = """
class Watch:
    def on_start(self, plant, **given):
        pass

class Plant:
    def __init__(self, plant=None, watches=(), early=False, **given):
        self.plant = plant
        self.watches = watches
        if early:
            self.call("on_start")

    def run(self):
        self.call("on_start")

    def call(self, event):
        for watch in self.watches:
            getattr(watch, event)(self, colour=1)

class Layer:
    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, x):
        return x

def drive(layer, rows):
    return layer(rows, scale=2)

def build(kind, **given):
    return make(kind, given)

def make(kind, given):
    return kind(**given)

class Kind:
    def __init__(self, size):
        self.size = size

def restore():
    return make(Kind, {"size": 1, "shape": 2})
"""
WATCH = "from widget import *\nclass Mine(Watch):\n    def on_start(self, plant):\n        pass\n"
Run = Callable[..., Report]


def told(report: Report) -> tuple[str, str, list[str | None]]:
    """The argument named first, the condition, and what is suggested as code."""
    one = report.explained[0]
    return one["arguments"][0]["name"], one["condition"], [fix["code"] for fix in one["suggestions"]]


@pytest.mark.parametrize("call", ["Plant(watches=[Mine()]).run()", "Plant(colour=3, watches=[Mine()]).run()"])
def test_a_method_that_the_library_calls_with_a_keyword_more(of_run: Run, call: str):
    name, condition, codes = told(of_run(LIBRARY, f"{WATCH}plant = {call.replace('.run()', '')}\nplant.run()\n"))
    assert (name, codes) == ("on_start", ["def on_start(self, plant, **kwargs):"])
    assert "the library calls your function `Mine.on_start` with `colour`" in condition


def test_a_keyword_that_ends_in_the_function_which_the_user_calls(of_run: Run):
    program = f"{WATCH}Plant(colour=3, watches=[Mine()], early=True)\n"
    library = LIBRARY.replace("early=False", "early=False, colour=None")
    assert told(of_run(library, program))[2] == ["def on_start(self, plant, **kwargs):"]


def test_the_users_own_call_is_what_is_to_be_changed(of_run: Run):
    program = "from widget import *\nclass Mine(Layer):\n    def forward(self, x):\n        return x\n"
    for call in ("Mine()(1, scale=2)", "Mine()(1, **{'scale': 2})"):
        assert of_run(LIBRARY, f"{program}{call}\n").explained[0]["suggestions"][0]["do"].startswith("Remove `scale`")
    assert told(of_run(LIBRARY, f"{program}drive(Mine(), 1)\n"))[2] == ["def forward(self, x, **kwargs):"]


def test_nothing_is_to_be_removed_from_a_call_of_the_librarys(of_run: Run):
    assert of_run(LIBRARY, "from widget import *\nrestore()\n").explained[0]["suggestions"] == []
    # What the user gave may be removed.
    for own in ("build(Kind, size=1, shape=2)", "given = {'shape': 2}\nmake(Kind, given)"):
        [fix] = of_run(LIBRARY, f"from widget import *\n{own}\n").explained[0]["suggestions"]
        assert fix["do"].startswith("Remove `shape`")


def test_one_argument_more_or_less_in_order(of_run: Run):
    more = f"{WATCH}Plant(watches=[Mine()]).run()\n".replace("(self, plant)", "(self)")
    report = of_run(LIBRARY.replace(", colour=1", ""), more)
    assert report.explained[0]["suggestions"][0]["do"] == "Let `Mine.on_start` take 2 arguments"
    fewer = f"{WATCH}Plant(watches=[Mine()]).run()\n".replace("plant)", "plant, size)")
    assert told(of_run(LIBRARY.replace(", colour=1", ""), fewer))[2] == ["size=None"]
    # The user's own call passes too little: the library only passes it on.
    own = "from widget import *\nclass Mine(Layer):\n    def forward(self, x, y):\n        return x\nMine()(1)\n"
    passing_on = LIBRARY.replace("return self.forward(", "call = self.forward\n        return call(")
    assert "the library calls" not in told(of_run(passing_on, own))[1]
