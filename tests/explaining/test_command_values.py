"""A value that a message shows and that the command line of the run gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

Run = Callable[..., Report]
PROGRAM = "import sys\nargs = sys.argv[1:]\ndef layers(text):\n    return [{turn}(part) for part in text.split(',')]\nlayers(args[1])\n"


@pytest.mark.parametrize(
    ("turn", "given", "do"),
    [
        ("int", "0-2", "Give `--freeze-layers` whole numbers only: '0-2' is none"),
        ("int", "3,four", "Give `--freeze-layers` whole numbers only: 'four' is none"),
        ("float", "0.1,O.2", "Give `--freeze-layers` numbers only: 'O.2' is none"),
    ],
)
def test_an_option_that_is_no_number(of_run: Run, turn: str, given: str, do: str):
    command = f"$ python train.py --freeze-layers {given} --name base"
    found = of_run("", PROGRAM.format(turn=turn), command=command).explained[0]
    assert found["suggestions"][0]["do"] == do
    assert (found["arguments"][0]["name"], found["arguments"][0]["value"]) == ("--freeze-layers", repr(given))


def test_a_key_that_the_command_gives(of_run: Run):
    program = "import sys\nRATES = {'low': 1}\nRATES[sys.argv[2]]\n"
    found = of_run("", program, command="$ python train.py --rate slow").explained[0]
    assert found["arguments"][0]["name"] == "--rate"
    assert "line 1 of the log" in found["arguments"][0]["why"]


@pytest.mark.parametrize(
    "command", ["$ python train.py x 0-2", "$ python train.py --a 0-2 --b 0-2", "$ python train.py --layers 0-23"]
)
def test_a_value_that_no_one_option_gives(of_run: Run, command: str):
    program = "def layers(text):\n    return int(text)\nlayers('0-2')\n"
    found = of_run("", program, command=command).explained[0]
    assert not any(one["name"].startswith("--") for one in found["arguments"])
