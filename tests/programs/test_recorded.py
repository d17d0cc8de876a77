"""The programs that fail, as they were recorded: what is written about them fits their logs. (`tests.programs` runs them.)"""

import pytest

import troubleshooter
from tests.programs.program import Program, load

PROGRAMS = load()


def test_there_are_enough_to_measure_on():
    assert len(PROGRAMS) >= 60
    assert sum(program.held for program in PROGRAMS) >= 30


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.id for program in PROGRAMS])
def test_each_is_short_fails_and_has_a_repair_that_changes_it(program: Program):
    assert len(program.source.splitlines()) < 40
    assert program.arguments
    assert program.accepts
    assert program.repairs
    assert all(text != program.source for text in program.repaired())


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.id for program in PROGRAMS])
def test_the_exception_and_its_place_are_read_from_its_log(program: Program):
    report = troubleshooter.diagnose(program.log)
    last = report.failures[-1]
    assert last.exception.rpartition(".")[2] == program.place["exception"].rpartition(".")[2]
    assert last.frames[-1]["function"] == program.place["function"]
    assert last.frames[-1]["file"].endswith(program.place["file"])
