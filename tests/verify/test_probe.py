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
    with pytest.raises(ProbeProblem, match="did you mean `cache-float`"):
        probes.load("cache-flot")


def test_reading_a_probe_does_not_run_it(write: Callable[..., Probe], tmp_path: Path) -> None:
    header = f"QUESTION = 'q?'\nNEEDS = []\nPARAMETERS = {{}}\nopen({str(tmp_path / 'ran')!r}, 'w')\n"
    write("pass", header)
    assert not (tmp_path / "ran").exists()


def test_parameters_are_literals(write: Callable[..., Probe]) -> None:
    with pytest.raises(ValueError, match="malformed"):
        write("pass", "QUESTION = 'q?'\nNEEDS = []\nPARAMETERS = dict(a=__import__('os').getcwd())\n")


HEADER = """
QUESTION = "q?"
NEEDS = []
PARAMETERS = {"dtype": ["bfloat16", "float16"], "on": [True, False], "name": "^[a-z]+$", "n": {"least": 1, "most": 9, "default": 2}}
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
        ({"dtyp": "float16"}, "did you mean `dtype`"),
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
