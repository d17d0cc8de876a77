"""Dictionaries of the user's own whose entries have to be of one class."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

LIBRARY = """
def store(rows, labels=None):
    other = [type(one).__name__ for one in labels.values() if not isinstance(one, str)]
    compiled(other[0])

def compiled(kind):
    (_ for _ in ()).throw(TypeError(f"argument 'labels': '{kind}' object is not an instance of 'str'"))
"""
Run = Callable[..., Report]


def told(report: Report) -> tuple[str, str, list[str | None]]:
    """The argument named first, the condition, and what is suggested as code."""
    one = report.explained[0]
    return one["arguments"][0]["name"], one["condition"], [fix["code"] for fix in one["suggestions"]]


@pytest.mark.parametrize(
    ("program", "name", "code"),
    [
        ("store(1, labels={'a': 'b', 'c': 3})", "labels['c']", "'c': str(3)"),
        ("kept = {'a': 'b', 'c': 'x'}\nkept['c'] = len(kept)\nstore(1, labels=kept)", "labels['c']", "kept['c'] = str(len(kept))"),
        ("kept = {'a': 'b', 'c': [1]}\ndef go(them):\n    store(1, them)\ngo(kept)", "labels['c']", "'c': json.dumps([1])"),
        ("kept = dict(a=1, c=2)\nstore(1, labels=kept)", "labels", "labels={key: str(value) for key, value in kept.items()}"),
    ],
)  # fmt: skip
def test_the_entry_that_is_of_another_class(of_run: Run, program: str, name: str, code: str):
    found = told(of_run(LIBRARY, f"from widget import *\n{program}\n"))
    assert (found[0], found[2]) == (name, [code])
    assert "takes only entries of type str" in found[1]


@pytest.mark.parametrize(
    "program",
    [
        "kept = {'a': 'b'}\nkept.update(vars(store))\nkept |= {'c': 3}\nstore(1, labels=kept)",
        "def made():\n    return {'c': 3}\nstore(1, labels=made())",
    ],
)
def test_of_a_dictionary_that_is_not_seen_whole_nothing_is_told(of_run: Run, program: str):
    assert "entries of type" not in str(of_run(LIBRARY, f"from widget import *\n{program}\n").explained)
