"""Probe files: read without being run, parameters checked, and nothing but shipped ones can be named."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshooter.verify import probe as probes
from troubleshooter.verify import runner
from troubleshooter.verify.environment import ask
from troubleshooter.verify.probe import FOLDER, Probe, ProbeProblem

FILES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_probe_file_parses_under_python_3_8(path: Path) -> None:
    ast.parse(path.read_text("utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_libraries_are_imported_inside_functions_only(path: Path) -> None:
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in statement.names] + [getattr(statement, "module", None) or ""]
            assert not {"torch", "transformers", "peft", "accelerate", "trl"} & {name.split(".")[0] for name in names}


@pytest.mark.parametrize("name", probes.names())
def test_a_shipped_probe_says_what_it_is(name: str) -> None:
    probe = probes.load(name)
    assert probe.question.endswith("?")
    options = probe.options({})
    assert probe.reproduce.strip()
    ast.parse(probe.shown(options).replace("{{", "{").replace("}}", "}"))
    for verdict, versions, *given in probe.pairs:
        assert verdict in ("confirmed", "not-here")
        assert versions
        probe.options(given[0] if given else {})


@pytest.mark.parametrize("name", probes.names())
def test_a_probe_never_raises_the_message_itself(name: str) -> None:
    """The expected message is a pattern to recognise; nothing in the file may raise it."""
    tree = ast.parse(probes.load(name).path.read_text("utf-8"))
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    assert not raised, f"line {raised[0].lineno}: a probe reports, it does not raise"


@pytest.mark.parametrize(
    "name", ["../evil", "/tmp/evil", "evil", "_kit", "cache_float", "Cache-Float", "", "cache-float.py", "__init__"]
)
def test_only_shipped_probes_can_be_named(name: str) -> None:
    with pytest.raises(ProbeProblem, match="no probe"):
        probes.load(name)


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(ProbeProblem, match="did you mean cache-float"):
        probes.load("cache-flot")


def test_reading_a_probe_does_not_run_it(write: Callable[..., Probe], tmp_path: Path) -> None:
    header = f"QUESTION = 'q?'\nNEEDS = []\nPARAMETERS = {{}}\nSETTLED_BY = []\nopen({str(tmp_path / 'ran')!r}, 'w')\n"
    write("pass", header)
    assert not (tmp_path / "ran").exists()


def test_parameters_are_literals(write: Callable[..., Probe]) -> None:
    with pytest.raises(ValueError, match="malformed"):
        write("pass", "QUESTION = 'q?'\nNEEDS = []\nPARAMETERS = dict(a=__import__('os').getcwd())\n")


HEADER = """
QUESTION = "q?"
NEEDS = []
PARAMETERS = {"dtype": ["bfloat16", "float16"], "on": [True, False], "name": "^[a-z]+$", "n": {"least": 1, "most": 9, "default": 2}}
SETTLED_BY = None
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"dtype": "int8"}, "expected one of bfloat16, float16"),
        ({"dtype": ["float16"]}, "expected one of"),
        ({"on": 1}, "expected one of True, False"),
        ({"name": "a; import os"}, "expected text matching"),
        ({"name": "a\n"}, "expected text matching"),
        ({"name": 3}, "expected text matching"),
        ({"n": 10}, "a whole number from 1 to 9"),
        ({"n": True}, "a whole number from 1 to 9"),
        ({"dtyp": "float16"}, "did you mean dtype"),
    ],
)
def test_with_values_are_checked(write: Callable[..., Probe], given: dict[str, object], told: str) -> None:
    with pytest.raises(ProbeProblem, match=told):
        write("pass", HEADER).options(given)


def test_defaults_fill_in(write: Callable[..., Probe]) -> None:
    assert write("pass", HEADER).options({"name": "abc"}) == {"dtype": "bfloat16", "on": True, "name": "abc", "n": 2}


def test_python_3_8_itself_runs_a_probe() -> None:
    pyenv = Path.home() / ".pyenv" / "versions"
    found = [shutil.which("python3.8"), *map(str, pyenv.glob("3.8.*/bin/python"))]
    for python in filter(None, found):
        if subprocess.run([python, "-V"], capture_output=True, check=False).returncode == 0:
            probe = probes.load("shm-size")
            outcome = runner.run(probe, python, probe.options({"workers": 0}), user_base=ask(python).user_base)
            assert outcome.status == "ended", outcome.tail
            assert outcome.of("symptom")[0]["occurred"] is False
            return
    pytest.skip("no Python 3.8 here")


def test_every_probe_says_what_settles_it() -> None:
    """Names of its own parameters, with values that they take: a question that a log could answer."""
    for name in probes.names():
        probe = probes.load(name)
        for item in probe.settled_by or ():
            key, fixed, value = item.partition("=")
            if item == "--model":
                assert probe.uses_model, name
            elif fixed:
                assert probe.options({key: value})[key] == value
            else:
                assert key in probe.parameters, (name, key)


@pytest.mark.parametrize(
    ("name", "given", "from_log", "model", "settled"),
    [
        ("target-modules", {"targets": "c_attn"}, {"targets"}, False, False),
        ("target-modules", {"targets": "c_attn"}, {"targets"}, True, True),
        ("target-modules", {}, set(), True, False),
        ("pad-token", {"where": "classifier"}, {"where"}, True, False),
        ("cache-float", {}, set(), False, True),
        ("weights-only-resume", {}, set(), False, True),
        ("weights-only-resume", {"what": "object"}, set(), False, False),
        ("strategy-mismatch", {"save": "steps"}, {"save"}, False, False),
        ("strategy-mismatch", {"save": "steps", "evaluate": "no"}, {"save", "evaluate"}, False, True),
    ],
)
def test_what_a_log_must_say_before_an_answer_is_about_it(
    name: str, given: dict[str, object], from_log: set[str], model: bool, settled: bool
) -> None:
    probe = probes.load(name)
    assert probe.settles(probe.options(given), from_log, model) is settled


def test_what_settles_a_probe_is_no_part_of_what_it_does(tmp_path: Path) -> None:
    """Its records stay records of it."""
    path = tmp_path / "some.py"
    header = 'QUESTION = "?"\nNEEDS = []\nPARAMETERS = {}\n'
    sums = []
    for line, rest in (("SETTLED_BY = []\n", ""), ("SETTLED_BY = None\n", ""), ("SETTLED_BY = []\n", "x = 1\n")):
        path.write_text(header + line + rest)
        sums.append(probes.read(path).sha256)
    assert sums[0] == sums[1] != sums[2]
