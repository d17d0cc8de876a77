"""Two objects of one call that do not fit each other."""

from __future__ import annotations

from pathlib import Path

from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

PROGRAM = """
from lumber import Oak, Elm, OakSaw, ElmSaw, Log
log = Log(Elm())
saw = OakSaw(teeth=3)
log.cut([1], saw=saw)
"""
LOG = """Traceback (most recent call last):
  File "{path}", line {line}, in <module>
    log.cut([1], saw=saw)
Exception: OakSaw can only handle an Oak
"""


def of_program(folder: Path, program: str) -> Report:
    path = folder / "train.py"
    path.write_text(program, encoding="utf-8")
    line = next(n for n, text in enumerate(program.splitlines(), 1) if text.startswith("log.cut"))
    return Diagnoser.of([]).diagnose(LOG.format(path=path, line=line))


def test_the_object_that_does_not_fit_and_the_class_that_does(tmp_path: Path):
    [found] = of_program(tmp_path, PROGRAM).explained
    assert found["condition"] == "`saw` is a `OakSaw`, which goes only with a `Oak`, and `log` is made with a `Elm`"
    assert [one["name"] for one in found["arguments"]] == ["saw", "log"]
    assert [one["code"] for one in found["suggestions"]] == ["saw=ElmSaw(...)"]


def test_no_class_is_made_up(tmp_path: Path):
    [found] = of_program(tmp_path, PROGRAM.replace("ElmSaw, ", "")).explained
    assert [one["code"] for one in found["suggestions"]] == [None]


def test_what_the_file_does_not_show_is_not_told(tmp_path: Path):
    for program in (
        PROGRAM.replace("saw = OakSaw(teeth=3)", "saw = OakSaw()\nsaw = made(saw)"),
        PROGRAM.replace("Log(Elm())", "Log(wood)"),
        PROGRAM.replace("Log(Elm())", "Log(Oak())"),
    ):
        assert not any("goes only with" in one["condition"] for one in of_program(tmp_path, program).explained)
