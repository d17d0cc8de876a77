"""An answer whose words fit while another package raised them is only possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.errors import TroubleshootError
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.html import html
from troubleshooter.report.markdown import markdown

ENTRY = """
id: gadget-is-full
kind: failure
severity: crash
retry: after-fix
title: The gadget is full
symptoms:
  - require:
      - exception: ValueError
        message: "no room is left in this gadget"
    support:
      - frame: gadget/core.py
    source: {run: "made for this test"}
cause: |
  The gadget holds no more.
fixes:
  - do: Empty it
    risk: safe
sources:
  - {run: "made for this test", shows: [cause, fix]}
"""
HEAD = 'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n    gadget.fill()\n'
LIBRARY = '  File "/opt/venv/lib/python3.11/site-packages/{file}", line 12, in fill\n    raise ValueError(text)\n'
LAST = "ValueError: no room is left in this gadget\n"


@pytest.fixture
def tool(tmp_path: Path) -> Diagnoser:
    folder = tmp_path / "entries" / "data" / "gadget-is-full"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(ENTRY, encoding="utf-8")
    (folder / "samples.log").write_text(
        f"=== match fill\n{HEAD}{LIBRARY.format(file='gadget/core.py')}>>> {LAST}", "utf-8"
    )
    try:
        return Diagnoser.load([tmp_path / "entries"])
    except TroubleshootError as error:  # the form of entries has changed
        pytest.fail(str(error))


def first(tool: Diagnoser, log: str) -> tuple[str, str]:
    found = tool.diagnose(log).diagnoses[0]
    return found.id, found.confidence


def test_in_its_own_place_it_is_as_sure_as_before(tool: Diagnoser):
    assert first(tool, HEAD + LIBRARY.format(file="gadget/core.py") + LAST) != ("gadget-is-full", "possible")


def test_raised_by_another_package_it_is_only_possible(tool: Diagnoser):
    log = HEAD + LIBRARY.format(file="otherlib/store.py") + LAST
    assert first(tool, log) == ("gadget-is-full", "possible")
    assert any("another place" in note for note in tool.diagnose(log).diagnoses[0].notes)


@pytest.mark.parametrize(
    "log",
    [LAST, HEAD + LAST, LIBRARY.format(file="otherlib/store.py") + LAST],
    ids=["no frames", "ends in the run's own code", "cut"],
)
def test_where_the_log_does_not_show_the_place_nothing_changes(tool: Diagnoser, log: str):
    assert first(tool, log) != ("gadget-is-full", "possible")


def test_the_explanation_stands_first(tool: Diagnoser, tmp_path: Path):
    library = tmp_path / "site-packages" / "otherlib"
    library.mkdir(parents=True)
    source = "def fill(text, rows=None):\n    if rows is None:\n        raise ValueError(text)\n"
    (library / "store.py").write_text(source, encoding="utf-8")
    frame = LIBRARY.format(file="otherlib/store.py").replace("line 12", "line 3")
    made = Diagnoser(tool.knowledge, tool.scanner, folders=[str(library.parent)])
    report = made.diagnose(HEAD + frame + LAST)
    assert report.explained[0]["package"] == "otherlib"
    for text in (str(report), markdown(report), html(report)):
        assert text.index("otherlib/store.py") < text.rindex("The gadget is full")


EVERYDAY = ENTRY.replace(
    """      - exception: ValueError
        message: "no room is left in this gadget"
    support:
      - frame: gadget/core.py
""",
    """      - exception: TypeError
        message: "'NoneType' object is not iterable"
      - any:
          - frame: gadget/core.py
          - line: "gadget\\\\.fill\\\\("
""",
)
NONE = "TypeError: 'NoneType' object is not iterable\n"
HELPER = '  File "/home/me/helpers.py", line 3, in split\n    {code}\n'


@pytest.mark.parametrize(
    ("frames", "sure"),
    [
        (LIBRARY.format(file="gadget/core.py"), True),
        (LIBRARY.format(file="gadget/core.py") + HELPER.format(code="for part in parts:"), False),
        # the line that raised is one that the symptom asks for
        (LIBRARY.format(file="gadget/core.py") + HELPER.format(code="for part in gadget.fill(parts):"), True),
        # another library raised: that may well be the same failure
        (LIBRARY.format(file="gadget/core.py") + LIBRARY.format(file="gadget/parts.py"), True),
        (LIBRARY.format(file="gadget/core.py").replace("opt/venv/lib", "x") + '  File "C:\\Python311\\Lib\\json.py", line 3, in f\n', True),
        (LIBRARY.format(file="gadget/core.py") + '  File "<ipython-input-3-a1>", line 3, in f\n', False),
    ],
)  # fmt: skip
def test_what_any_code_prints_is_only_possible_where_the_users_own_code_raised_it(
    tmp_path: Path, frames: str, sure: bool
):
    folder = tmp_path / "entries" / "data" / "gadget-is-full"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(EVERYDAY, encoding="utf-8")
    (folder / "samples.log").write_text(f"=== match fill\n{HEAD}{LIBRARY.format(file='gadget/core.py')}>>> {NONE}", "utf-8")  # fmt: skip
    made = Diagnoser.load([tmp_path / "entries"])
    head = HEAD.replace("gadget.fill()", "main()")
    assert (first(made, head + frames + NONE) == ("gadget-is-full", "possible")) is not sure


MESSAGE = "Some specified arguments are not used by the HfArgumentParser: ['up_proj,', 'down_proj']"
OWN = 'Traceback (most recent call last):\n  File "/home/kim/fit/run.py", line 71, in <module>\n    main()\n  File "{file}", line 22, in check\n    {code}\nValueError: {message}\n'


@pytest.mark.parametrize(
    ("file", "code", "confidence"),
    [
        ("/home/kim/fit/run.py", "raise ValueError(text)", "possible"),
        ("/home/kim/fit/run.py", "assert not rest, text", "possible"),
        ("/home/kim/fit/run.py", "args = read(argv)", "certain"),  # the frames of the library may have been left out
        ("/home/kim/LLaMA-Factory/src/llamafactory/hparams/parser.py", "raise ValueError(text)", "certain"),  # a clone
        ("/home/kim/fit/hf_argparser.py", "raise ValueError(text)", "certain"),  # a copy of the file that prints it
        ("/opt/venv/lib/python3.11/site-packages/transformers/hf_argparser.py", "raise ValueError(text)", "certain"),
    ],
)
def test_what_ones_own_statement_raises_is_not_what_a_library_prints(file: str, code: str, confidence: str) -> None:
    found = Diagnoser.load().diagnose(OWN.format(file=file, code=code, message=MESSAGE)).diagnoses[0]
    assert (found.id, found.confidence) == ("list-argument-split-by-space", confidence)
