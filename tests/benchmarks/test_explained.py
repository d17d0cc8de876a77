"""Reports without a diagnosis are counted by whether they are explained, and the others by why not."""

from __future__ import annotations

from benchmarks.explained import outcomes, table
from benchmarks.score_reports import Report
from troubleshooter.pipeline import Diagnoser

FRAME = 'Traceback (most recent call last):\n  File "{path}", line 3, in wind\n    {code}\n{message}\n'


def report(name: str, text: str, *, reported: bool = False) -> Report:
    return Report(
        name, "2026-01-01", "me/gadget", text, (), "", reported, "", "", False, "https://example.org/me/gadget/issues/1"
    )


def test_each_report_without_a_diagnosis_is_explained_or_has_a_reason():
    there = "/opt/venv/lib/python3.11/site-packages/gadget/core.py"
    several = [
        report("rule", "TypeError: Gadget.wind() missing 1 required positional argument: 'turns'\n", reported=True),
        report("none", "nothing went wrong\n"),
        report("far", FRAME.format(path=there, code="self.check()", message="ValueError: the spring of zorn is bent")),
        report("own", FRAME.format(path="/home/me/train.py", code="check()", message="ValueError: zorn")),
        report("bare", "ValueError: the spring of zorn is bent\n"),
    ]
    found = outcomes(several, Diagnoser.of([]), None)
    assert [(one.report.id, one.reason) for one in found] == [
        ("rule", None),
        ("none", "no failure in the text"),
        ("far", "package not in the index"),
        ("own", "own code, no rule"),
        ("bare", "no frame, message not in the index"),
    ]
    assert "all: 1 of 5 explained" in table(found)
    assert "reported by users: 1 of 1 explained" in table(found)
