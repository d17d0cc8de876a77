"""``verify ENTRY --script``: the probe as one file that stands alone."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

from troubleshooter.verify import probe, runner
from troubleshooter.verify.command import verify
from troubleshooter.verify.overlays import Overlays
from troubleshooter.verify.probe import Options, Probe
from troubleshooter.verify.script import MAX_LINES, ScriptCheck, Unscriptable, check, script_of
from troubleshooter.verify.script_command import same_failure

PROBE = '''
"""Made up."""
QUESTION = "Does a key go missing?"
NEEDS = []
PARAMETERS = {"key": ["width", "height"]}
SETTLED_BY = None


def run(kit):
    import json

    kit.expects("KeyError", r"width")
    kit.say("reading")

    def read(text):
        return json.loads(text)[kit.options["key"]] + size(kit)

    if kit.symptom("a file without it", lambda: read("{}")):
        kit.fix("write-it", "write it", lambda: read('{"width": 1, "height": 2}'), words="write", price=(None, None))
        kit.fix("other", "a fix that does not help", lambda: read('{"depth": 1}'), words="other")
        kit.fix("measured", "only measured", removed=True)


def size(kit):
    return len(kit.device)
'''

LONG = ["cache-float", "dtype-mismatch", "fp16-range", "nan-trainables"]
MEASURED = ["removed-arguments", "module-installed", "shm-size", "gpu-arch"]


@pytest.fixture
def made_up(tmp_path: Path) -> Probe:
    path = tmp_path / "key_missing.py"
    path.write_text(PROBE, encoding="utf-8")
    return probe.read(path)


def text_of(name: str, options: Options | None = None) -> str | None:
    """The file of a shipped probe; None where there can be none."""
    shipped = probe.load(name)
    try:
        return script_of(shipped, shipped.options(options or {}))
    except Unscriptable:
        return None


def test_a_file_fails_without_a_fix_and_runs_with_one(made_up: Probe) -> None:
    text = script_of(made_up, made_up.options({"key": "height"}), "A key is missing")
    said = check(text, sys.executable, os.environ)
    assert said.fails == "KeyError: 'height'"
    assert same_failure(said, "KeyError", "key_missing:read")
    assert (said.fixed, said.broken) == (["write-it"], ["other"])
    assert text.startswith('"""A key is missing')
    assert "kit" not in text


def test_a_traceback_inside_of_a_message_hides_no_failure() -> None:
    """torch.distributed.checkpoint puts what a rank met into the message of its own exception."""
    text = (
        "def fix(name, function): pass\ndef gather():\n"
        "    raise RuntimeError('ranks [0]\\nTraceback (most recent call last): (RANK 0)\\n  File \"/x/plan.py\", line 3, in plan\\n"
        "KeyError: 1')\ngather()\n"
    )
    said = check(text, sys.executable, os.environ)
    assert (said.fails, said.place) == ("RuntimeError: ranks [0]", ":gather")


def test_a_recursion_without_end_has_no_place_of_its_own() -> None:
    """Which function of the circle meets the limit depends on how deep the caller stands."""
    said = ScriptCheck("RecursionError: maximum recursion depth exceeded", "made.up:one", [], [])
    assert same_failure(said, "RecursionError", "made.up:other")
    assert not same_failure(said, "KeyError", "made.up:one")


def test_it_fails_as_the_probe_itself_does(made_up: Probe) -> None:
    outcome = runner.run(made_up, sys.executable, made_up.options({}))
    [row] = outcome.of("symptom")
    said = check(script_of(made_up, made_up.options({})), sys.executable, os.environ)
    assert same_failure(said, row["observed"]["exception"], row["observed"]["where"])


@pytest.mark.parametrize(
    ("fails", "place", "alike"),
    [
        ("ValueError: 3 rows", "transformers.trainer:_step", True),
        ("builtins.ValueError: 3 rows", "transformers.trainer:_step", True),
        ("KeyError: 3", "transformers.trainer:_step", False),
        ("ValueError: 3 rows", "transformers.trainer:_load", False),
        ("ValueError: 3 rows", "accelerate.trainer:_step", False),
        ("", "", False),
    ],
)
def test_what_makes_it_the_same_failure(fails: str, place: str, alike: bool) -> None:
    assert same_failure(ScriptCheck(fails, place, [], []), "ValueError", "transformers.trainer:_step") is alike


@pytest.mark.parametrize("name", probe.names())
def test_a_file_stands_alone(name: str) -> None:
    text = text_of(name)
    if text is None:
        return
    tree = ast.parse(text)
    assert len(text.splitlines()) <= MAX_LINES
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "kit" not in names
    imported = {
        (alias.name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert "troubleshooter" not in imported
    assert not {name for name in imported if name.startswith("_")}


def test_most_probes_have_a_file_and_the_others_say_why() -> None:
    without = [name for name in probe.names() if text_of(name) is None]
    assert len(without) <= len(probe.names()) / 3
    for name, why in [*((name, "one small file") for name in LONG), *((name, "--show-code") for name in MEASURED)]:
        shipped = probe.load(name)
        with pytest.raises(Unscriptable, match=why):
            script_of(shipped, shipped.options({}))


@pytest.mark.parametrize(
    ("target", "sentence"),
    [(None, "name the entry"), ("cache-object-float", "see --show-code"), ("cuda-out-of-memory", "has no probe")],
)
def test_what_cannot_be_written(target: str | None, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "repro.py"
    assert verify(target, script=path) == 2
    assert sentence in capsys.readouterr().err
    assert not path.exists()


def test_a_file_that_could_not_be_run_is_said_to_be_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "repro.py"
    status = verify("model-returned-no-loss", script=path, python=sys.executable)
    told = capsys.readouterr().out
    if status == 3:  # this environment has no transformers and accelerate
        assert "was written, but not run" in told
    ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.matrix
@pytest.mark.parametrize(
    "name",
    ["callback-tokenizer", "view-contiguous", "wrapped-attribute", "checkpoint-no-grad", "pad-token", "vera-sizes",
     "extra-special-tokens", "tied-weights", "no-loss", "forward-num-items", "no-inf-checks", "sequence-lengths",
     "collective-backend"],
)  # fmt: skip
def test_a_shipped_probe_as_a_file(name: str, overlays: Overlays) -> None:
    shipped = probe.load(name)
    versions = next(versions for verdict, versions, *given in shipped.pairs if verdict == "confirmed" and not given)
    environ = {**os.environ, "PYTHONPATH": overlays.path(versions)}
    options = shipped.options({})
    python = str(overlays.base())
    outcome = runner.run(shipped, python, options, environ=environ)
    observed = next(row["observed"] for row in outcome.of("symptom") if row["occurred"])
    said = check(script_of(shipped, options), python, environ)
    assert same_failure(said, observed["exception"], observed["where"]), (said, observed)
    assert not said.broken
    assert said.fixed
