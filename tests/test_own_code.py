"""``check`` names symptoms that are certain of words which anybody's code prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kb.any_code import generic
from kb.load import load
from troubleshooter import paths
from troubleshooter.check import check, notes
from troubleshooter.pipeline import Diagnoser

ENTRY = """
id: gadget-breaks
severity: crash
title: The gadget of gadgetlib breaks
symptoms:
  - name: broken
    decisive: true
    require:
      - message: "{message}"
{more}    source: {{run: "made for this test"}}
cause: |
  A gadget of gadgetlib breaks when it is full.
fixes:
  - do: Empty it
sources:
  - {{run: "made for this test", shows: [cause, fix]}}
"""
SAMPLE = """=== match broken
Traceback (most recent call last):
  File "/home/kim/app/run.py", line 7, in <module>
    gadget.fill()
  File "/opt/venv/lib/python3.11/site-packages/gadgetlib/core.py", line 12, in fill
    take(row)
{last}
"""
AT_HOME = "      - frame: gadgetlib/core.py\n"


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., tuple[list[str], list[str]]]:
    """The problems and the notes about an invented entry that speak of anybody's own script."""

    def of(message: str, last: str, more: str = "", shared: bool = True) -> tuple[list[str], list[str]]:
        folder = tmp_path / "entries" / "data" / "gadget-breaks"
        folder.mkdir(parents=True)
        (folder / "entry.yaml").write_text(ENTRY.format(message=message, more=more), encoding="utf-8")
        (folder / "samples.log").write_text(SAMPLE.format(last=last), encoding="utf-8")
        library, tool = load(folder), Diagnoser.load([tmp_path / "entries"])
        assert library.problems == []
        found = check(library, tool, ["gadget-breaks"], shared=shared), notes(library, tool, ["gadget-breaks"], shared)
        problems, remarks = ([str(one) for one in some if "anybody's own" in one.message] for some in found)
        return problems, remarks

    return of


def test_a_key_of_everybody_is_a_problem_that_says_the_next_step(told: Callable[..., tuple[list[str], list[str]]]):
    [problem], _ = told("KeyError: 'example'", "KeyError: 'example'")
    assert "entry.yaml:6:" in problem
    assert "symptoms.0" in problem
    assert "KeyError: 'example'" in problem
    assert "sample broken" in problem
    assert "require a frame" in problem


def test_names_on_which_the_answer_does_not_depend_count_for_nothing(told: Callable[..., tuple[list[str], list[str]]]):
    [problem], _ = told(
        r"\\w+ object has no attribute '\\w+_of_gadgets?'|'\\w+' object has no attribute 'total'",
        "AttributeError: 'GadgetLibCore' object has no attribute 'total'",
    )
    assert "'WeatherReport' object has no attribute 'total'" in problem


@pytest.mark.parametrize(
    ("message", "last", "more"),
    [
        ("KeyError: 'example'", "KeyError: 'example'", AT_HOME),
        ("KeyError: 'gadget_rope_theta'", "KeyError: 'gadget_rope_theta'", ""),
        ("the gadget number \\\\d+ is broken", "ValueError: the gadget number 3 is broken", ""),
    ],
    ids=["a frame of the library", "a key that only the library has", "words of the library"],
)
def test_what_only_the_library_shows_is_no_problem(
    told: Callable[..., tuple[list[str], list[str]]], message: str, last: str, more: str
):
    assert told(message, last, more) == ([], [])


def test_an_answer_that_is_not_certain_is_no_problem(told: Callable[..., tuple[list[str], list[str]]]):
    rival = '      - line: "gadgetlib/core"\n'  # it is not in a script of somebody's own
    assert told("KeyError: 'example'", "KeyError: 'example'", rival) == ([], [])


def test_a_teams_own_entry_gets_a_note(told: Callable[..., tuple[list[str], list[str]]]):
    problems, remarks = told("KeyError: 'example'", "KeyError: 'example'", shared=False)
    assert (problems, len(remarks)) == ([], 1)


PROVOKED = """
{}["labels"]
{}[3]
[][1]
()[1]
[].pop()
nothing.shape
Report().total
Report.total
json.dampen
nowhere
(lambda: (late, late := 1))()
Report().step()
Report().step(1, 2)
Report().step(1, snow=2)
Report().step(1, rain=2)
nothing()
nothing[0]
list(nothing)
len(3)
{[]: 1}
nothing + 1
"a" < 1
numbers["a"]
"a" + 1
"a" in 3
",".join(numbers)
int(nothing)
open(nothing)
json.dumps(Report())
"%s" % (1, 2)
1 / 0
1 // 0
1 % 0
1.0 / 0
first, second = numbers
int("seven")
float("seven")
numbers.index(2)
numbers.remove(2)
max([])
int(float("nan"))
import no_such_module
open("/no/such/file")
json.loads("")
b"\\x80".decode()
""".strip().splitlines()
"""Lines that make this Python print its own messages."""
NAMES = """
import json
nothing, numbers = None, [1]
class Report:
    def step(self, rain): ...
"""


@pytest.mark.parametrize("line", PROVOKED)
def test_messages_of_this_python_are_known(line: str):
    names: dict[str, object] = {}
    exec(NAMES, names)
    raised: list[BaseException] = []
    try:
        exec(line, names)
    except Exception as error:
        raised.append(error)
    assert [repr(one) for one in raised if generic(type(one).__name__, str(one)) is None] == []
    assert raised, "the line raises nothing"


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("KeyError", "'Column train not in the dataset. Current columns in the dataset: []'"),
        ("ValueError", "You have to specify either input_ids or inputs_embeds"),
        ("AttributeError", "'Gadget' object has no attribute 'total', because it was never filled"),
        ("ImportError", "attempted relative import with no known parent package"),
    ],
)
def test_words_of_a_library_or_of_one_cause_are_no_generic_message(type_: str, message: str):
    assert generic(type_, message) is None


def test_a_slot_is_everyday_only_if_all_its_parts_are():
    found = generic("AttributeError", "'NoneType' object has no attribute 'rope_theta'")
    assert found is not None
    assert [(slot.value, slot.everyday) for slot in found.slots] == [("NoneType", True), ("rope_theta", False)]
    assert found.with_others(frozenset({0, 1})) == "'WeatherReport' object has no attribute 'rain_per_hour'"


def test_a_well_known_file_is_a_librarys_wherever_it_lies() -> None:
    assert not paths.is_own("/home/me/src/transformers/src/transformers/trainer.py")
    assert not paths.is_own("/work/ov/datasets-4.4.1/datasets/arrow_dataset.py")
    assert paths.is_own("/home/me/project/datasets/loader.py")
    assert paths.is_own("/home/me/project/trl/train.py")
    assert paths.is_own("/home/me/my_datasets/arrow_dataset.py")


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/v/lib/python3.11/site-packages/trl/trainer/sft_trainer.py", "trl/trainer/sft_trainer.py"),
        ("/opt/overlays/datasets-3.6.0/datasets/fingerprint.py", "datasets/fingerprint.py"),
        ("/build/gadgetlib-1.2.0rc1/src/gadgetlib/core.py", "gadgetlib/core.py"),
        ("/work/packages/accelerate/accelerator.py", "accelerate/accelerator.py"),
        ("numpy/random/_generator.pyx", "numpy/random/_generator.pyx"),
    ],
)
def test_installed_code_is_known_wherever_it_lies(path: str, file: str) -> None:
    assert paths.installed_file(path) == (file.partition("/")[0], file)
    assert not paths.is_own(path)


@pytest.mark.parametrize(
    "path",
    ["/home/kim/llama-2.0/train/loop.py", "/home/kim/trl/train.py", "/srv/run-3/runs/fit.py", "train.py", "/data/gadget-1.0/notes/gadget/a.txt"],
)
def test_a_file_of_the_users_own_is_not_installed(path: str) -> None:
    assert paths.installed_file(path) is None
    assert paths.is_own(path)
