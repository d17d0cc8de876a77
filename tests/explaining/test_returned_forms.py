"""The form in which a function of the user's own has to return what it returns."""

from __future__ import annotations

from collections.abc import Callable

from troubleshooter.report.model import Report

LIBRARY = """
class Plant:
    def run(self, more=False):
        loss = self.weigh([1], more)
        return self.back(loss)

    def back(self, loss):
        loss = loss / 2
        return loss

    def weigh(self, rows, more=False):
        loss = len(rows)
        return (loss, rows) if more else loss

    def mean(self):
        return self.weigh([1]).mean()

class Rows:
    def keep(self, function, batched=False):
        return sieve(Call(function), [1, 2])

class Call:
    def __init__(self, function):
        self.inner = function
    def __call__(self, rows):
        return self.inner(rows)

def sieve(call, rows):
    mask = call(rows)
    return [row for row, is_kept in zip(rows, mask) if is_kept]
"""
Run = Callable[..., Report]
METHOD = "from widget import *\nclass Mine(Plant):\n    def weigh(self, rows, more=False):\n        loss = 1.0\n        return %s\n"
FILTER = "from widget import *\ndef keep(rows):\n    return %s\ndef other(rows):\n    return %s\nRows().keep(keep, batched=%s)\n"


def told(report: Report) -> tuple[str, str, list[str | None]]:
    """The argument named first, the condition, and what is suggested as code."""
    one = report.explained[0]
    return one["arguments"][0]["name"], one["condition"], [fix["code"] for fix in one["suggestions"]]


def test_a_method_that_returns_what_is_wanted_in_one_case_only(of_run: Run):
    name, condition, codes = told(of_run(LIBRARY, METHOD % "loss, rows" + "Mine().run()\n"))
    assert (name, codes) == ("weigh", ["return (loss, rows) if more else loss"])
    assert "your function `weigh` returns it (train.py:5)" in condition


def test_a_part_of_what_a_method_returns(of_run: Run):
    library = LIBRARY.replace("(loss, rows) if more else loss", "loss")
    assert told(of_run(library, METHOD % "loss, rows" + "Mine().run()\n"))[2] == ["return loss"]
    # Neither of the parts bears the name of what is needed.
    report = of_run(library, METHOD % "rows, more" + "Mine().run()\n")
    assert told(report)[2] == [None]
    # Another method's tuple is not what was calculated with.
    other = METHOD % "loss" + "    def extra(self):\n        return 1, 2\n"
    of_plant = LIBRARY.replace("loss = len(rows)", "loss = (1, 2)")
    report = of_run(of_plant, other + "Plant().run()\n")
    assert "extra" not in str(report.explained[0]["arguments"])


def test_one_answer_for_a_whole_batch(of_run: Run):
    report = of_run(LIBRARY, FILTER % ("all(row > 1 for row in rows)", "3", "True"))
    name, condition, codes = told(report)
    assert (name, codes) == ("keep", ["return [row > 1 for row in rows]"])
    assert "one of `rows` / `mask` is of type bool" in condition
    assert "leave `batched=True` out" in report.explained[0]["suggestions"][0]["do"]
    plain = of_run(LIBRARY, FILTER % ("len(rows) > 1", "3", "False"))
    assert told(plain)[2] == ["return [...]"]
    assert "batched" not in plain.explained[0]["suggestions"][0]["do"]
    # Of two functions that are given and return such a value, neither is named.
    two = FILTER % ("len(rows) > 1", "rows is None", "True")
    two = two.replace("Rows().keep", "print(other)\nRows().keep")
    hidden = LIBRARY.replace("sieve(Call(function),", "sieve(vars()['function'],")
    assert told(of_run(hidden, two.replace("rows is None", "3")))[2] == ["return [...]"]
    assert of_run(hidden, two).explained[0]["suggestions"] == []


def test_an_object_with_a_call_that_is_given_to_a_library(of_run: Run):
    made = "from widget import *\nclass Sieve:\n    def __call__(self, rows):\n        return {}\nclass Other:\n    def __call__(self, rows):\n        return False\n"
    given = made + "sieve = Sieve()\nRows().keep(sieve, batched=True)\n"
    name, condition, codes = told(of_run(LIBRARY, given.format("1 <= len(rows) <= 3")))
    assert (name, codes) == ("Sieve.__call__", ["return [...]"])
    assert "your function `Sieve.__call__` returns it (train.py:4)" in condition
    at_once = made + "Rows().keep(Sieve(), batched=True)\n"
    report = of_run(LIBRARY, at_once.format("len(rows) > 1"))
    assert "leave `batched=True` out" in report.explained[0]["suggestions"][0]["do"]
