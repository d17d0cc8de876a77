"""Crash facts join a log: versions, GPUs, a traceback that the log lacks, and the values of its frames."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from troubleshooter import Diagnoser, UnreadableInput, hook
from troubleshooter.observe.crash_facts import InvalidFacts, read_facts, traceback_text
from troubleshooter.observe.model import Frame
from troubleshooter.observe.values import described, value_in
from troubleshooter.read.sources import from_path, from_text

SCRIPT = """
from troubleshooter import hook
hook.install(folder="facts")
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x, labels):
        logits = self.head(x)
        return torch.nn.functional.cross_entropy(logits.view(-1, 4), labels.view(-1))

def train(batch):
    return Model()(**batch)

train({"x": torch.zeros(2, 5, 8), "labels": torch.zeros(2, 4, dtype=torch.long)})
"""


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that really failed: its log, and crash facts below ``facts``."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("run")
    (folder / "train.py").write_text(SCRIPT)
    with (folder / "output.log").open("wb") as log:
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}
        subprocess.run([sys.executable, "train.py"], cwd=folder, env=environment, stdout=log, stderr=log, timeout=120)
    assert len(list((folder / "facts").glob("troubleshoot-crash-0-*.json"))) == 1
    return folder


def test_the_values_of_a_real_crash_stand_in_the_report(crashed: Path, tool: Diagnoser) -> None:
    plain = tool.report(from_path(crashed / "output.log"))
    report = tool.report(from_path(crashed))
    assert report.diagnoses[0].id == plain.diagnoses[0].id == "loss-batch-size-mismatch"
    assert report.diagnoses[0].evidence == plain.diagnoses[0].evidence
    assert report.input["files"] == [str(crashed / "output.log")], "the log shows the traceback: nothing was added to it"
    assert plain.crash == []
    own = report.crash[-1]
    assert (own["function"], own["file"].rpartition("/")[2]) == ("forward", "train.py")
    values = {value["name"]: value["value"] for value in own["values"]}
    assert values["logits"] == "shape=(2, 5, 4) dtype=float32 device=cpu requires_grad=True"
    assert values["labels"] == "shape=(2, 4) dtype=int64 device=cpu"
    assert report.facts["versions"]["torch"]
    assert "shape=(2, 4) dtype=int64" in str(report)


def test_the_facts_alone_are_a_log(crashed: Path, tool: Diagnoser) -> None:
    (facts,) = (crashed / "facts").iterdir()
    report = tool.report(from_path(facts))
    assert report.diagnoses[0].id == "loss-batch-size-mismatch"
    assert report.exit_code == 1


def _troubleshoot(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "troubleshooter", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def test_the_command_line_takes_facts_beside_a_log(crashed: Path, tmp_path: Path) -> None:
    log = tmp_path / "short.log"
    log.write_text("step 1 loss 2.3\nstep 2 loss 2.2\n")
    done = _troubleshoot(log, "--facts", crashed / "facts", "--format", "json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["diagnoses"][0]["id"]) == (1, "loss-batch-size-mismatch")
    assert [name.rpartition("/")[2][:18] for name in report["input"]["files"]] == ["short.log", "troubleshoot-crash"]
    done = _troubleshoot(log, "--facts", tmp_path)
    assert (done.returncode, "holds no crash facts" in done.stderr) == (2, True)
    for form in ("html", "markdown"):
        assert "shape=(2, 4) dtype=int64" in _troubleshoot(crashed, "--format", form).stdout


def _written(**changed: Any) -> dict[str, Any]:
    try:
        raise RuntimeError("flux 7 is gone")
    except RuntimeError as error:
        return {**hook.crash_facts(error), **changed}


def _source(facts: object, name: str = "3-12.crash.json") -> Any:
    source = from_text(facts if isinstance(facts, (str, bytes)) else json.dumps(facts), name)
    source.facts = True
    return source


TRACEBACK = 'Traceback (most recent call last):\n  File "run.py", line 4, in step\n    loss = f(labels)\nRuntimeError: flux 7 is gone\n'


def test_versions_that_were_imported_decide(tool: Diagnoser) -> None:
    log = from_text("torch==1.13.0\n" + TRACEBACK)
    report = tool.report([log, _source(_written(versions={"torch": "2.9.1+cu128", "flash_attn": "2.8.3", "nonsense": "1.0"}))])
    assert report.facts["versions"]["torch"] == "2.9.1+cu128"
    assert report.facts["versions"]["flash-attn"] == "2.8.3"
    assert "nonsense" not in report.facts["versions"]


def test_a_condition_on_versions_becomes_decidable(tool: Diagnoser) -> None:
    """An entry with affected versions of a package that its log does not name."""
    error = "AttributeError: 'AdamW' object has no attribute 'train'"
    library = '  File "/venv/lib/python3.11/site-packages/accelerate/optimizer.py", line 132, in train\n    return self.optimizer.train()'
    log = f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    trainer.train()\n{library}\n{error}\n'
    unknown = tool.report([from_text(log)]).diagnoses[0]
    assert unknown.versions["state"] == "unknown"
    package = next(iter(unknown.versions["affected"]))
    decided = {
        tool.report([from_text(log), _source(_written(versions={package: version}))]).diagnoses[0].versions["state"]
        for version in ("0.1.0", "99.0.0", *("4.46.0", "0.34.2", "1.0.0"))
    }
    assert "unknown" not in decided


def test_gpus_and_the_platform_are_facts(tool: Diagnoser) -> None:
    torch = {"cuda": "12.8", "gpus": [{"name": "NVIDIA H100", "capability": "9.0"}, {"name": 3}, {"name": "x", "capability": "y"}]}
    report = tool.report([from_text(TRACEBACK), _source(_written(torch=torch, platform="linux"))])
    assert (report.facts["gpus"], report.facts["capabilities"]) == (["NVIDIA H100"], ["9.0"])
    assert report.facts["versions"]["cuda"] == "12.8"
    assert "linux" in report.facts["platforms"]


def test_an_explanation_shows_what_the_operands_were(tool: Diagnoser) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/home/me/run.py", line 9, in <module>\n    step(model)\n'
        '  File "/home/me/run.py", line 5, in step\n    mixed = torch.einsum("qq,rr", hidden, weights[0])\n'
        "ValueError: not enough values to unpack (expected 3, got 2)\n"
    )
    frame = {
        "file": "/home/me/run.py", "line": 5, "function": "step", "code": "",
        "locals": {"hidden": {"type": "torch.Tensor", "shape": [4, 512], "dtype": "bfloat16", "device": "cuda:1"}},
    }  # fmt: skip
    facts = _written(exceptions=[{"type": "ValueError", "module": "builtins", "message": "not enough values to unpack (expected 3, got 2)", "frames": [frame]}])
    report = tool.report([from_text(log), _source(facts)])
    assert [(one["name"], one["value"]) for one in report.crash[0]["values"]] == [
        ("hidden", "shape=(4, 512) dtype=bfloat16 device=cuda:1")
    ]
    log = log.replace('mixed = torch.einsum("qq,rr", hidden, weights[0])', "a, b, c = hidden")
    report = tool.report([from_text(log), _source(facts)])
    assert report.explained
    assert {one["name"]: one["value"] for one in report.explained[0]["arguments"]}["hidden"] == (
        "shape=(4, 512) dtype=bfloat16 device=cuda:1"
    )


def test_an_exception_of_code_in_no_file_shows_its_values(tool: Diagnoser) -> None:
    try:
        exec(compile("rows = [1, 2]\nrows[7]\n", "<cell>", "exec"), {})
    except IndexError as error:
        report = tool.diagnose(error)
    assert report.crash[-1]["file"] == "<cell>"
    assert report.crash[-1]["values"][0] == {"name": "rows", "value": "list, len=2"}
    assert report.input["files"] == ["exception"]


def test_what_a_worker_raised_is_no_failure_of_its_own(tool: Diagnoser) -> None:
    log = from_text("step 1\nstep 2\n")
    assert tool.report([log, _source(_written(how="worker"))]).failures == []
    assert [one.message for one in tool.report([log, _source(_written(how="process", rank=3))]).failures] == ["flux 7 is gone"]


def test_the_ranks_of_facts_are_kept(tool: Diagnoser) -> None:
    several = [_source(_written(rank=rank), f"{rank}-9.crash.json") for rank in (1, 2)]
    (failure,) = tool.report([from_text("step 1\n"), *several]).failures
    assert failure.rank == 1


def test_a_chain_is_printed_as_python_prints_it() -> None:
    try:
        try:
            {}["loss"]
        except KeyError as error:
            raise ValueError("bad batch") from error
    except ValueError as error:
        facts = read_facts(_source(hook.crash_facts(error)))
    text = traceback_text(facts)
    assert text.index("KeyError: 'loss'") < text.index("direct cause of the following") < text.index("ValueError: bad batch")


HOSTILE: dict[str, object] = {
    "no JSON": "{", "another form": {"crash_facts": 2}, "a list": [1], "nothing": "", "deep": "[" * 100_000,
    "too large": b" " * (3 * hook.MAX_BYTES), "binary": bytes(range(256)),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_no_crash_facts_is_told_in_a_sentence(case: str, tool: Diagnoser) -> None:
    with pytest.raises(InvalidFacts):
        read_facts(_source(HOSTILE[case]))
    with pytest.raises(UnreadableInput, match=r"3-12\.crash\.json: holds no crash facts"):
        tool.report([_source(HOSTILE[case])])
    report = tool.report([from_text(TRACEBACK), _source(HOSTILE[case])])
    assert [problem["problem"] for problem in report.input["problems"]] == ["no-facts"]
    assert "3-12.crash.json is not used" in str(report)


ODD: tuple[Callable[[], object], ...] = (
    lambda: None, lambda: 10**30, lambda: -1, lambda: "x" * 100_000, lambda: [[]] * 50, lambda: {"\x1b[31m": {"a": [None]}},
    lambda: [{"type": "E", "frames": [{"line": "7", "locals": {"x": {"shape": ["a", None], "dtype": 3, "items": 4}}}]}],
    lambda: [{"type": "E", "of": 0, "link": "cause", "frames": "no"}, {"type": "F", "of": 1, "link": "cause", "notes": 5}],
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("key", ["rank", "versions", "exceptions", "torch", "python", "platform", "how", "environment"])
def test_odd_values_are_left_out(key: str, odd: Callable[[], object], tool: Diagnoser) -> None:
    report = tool.report([from_text(TRACEBACK), _source(_written(**{key: odd()}))])
    assert report.exit_code == 3
    assert "\x1b" not in str(report)


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        ({"type": "torch.Tensor", "shape": [7], "dtype": "int64", "device": "cpu"}, "shape=(7,) dtype=int64 device=cpu"),
        ({"type": "numpy.ndarray", "shape": [], "dtype": "int8"}, "shape=() dtype=int8"),
        ({"type": "NoneType"}, "None"),
        ({"type": "str", "length": 3, "value": "abc"}, "'abc'"),
        ({"type": "str", "length": 30, "value": "<withheld>"}, ""),
        ({"type": "bool", "value": False}, "False"),
        ({"type": "dict", "length": 2, "items": {"x": {}, "y": {}}}, "dict, len=2: x, y"),
        ({"type": "list", "length": 9, "items": []}, "list, len=9"),
        ({"type": "a.Model", "parameter": {"dtype": "bfloat16", "device": "cuda:0"}}, "Model (dtype=bfloat16 device=cuda:0)"),
        ({"type": 5, "shape": "x", "length": "y"}, ""),
    ],
)
def test_a_fact_in_one_line(fact: dict[str, Any], shown: str) -> None:
    assert described(fact) == shown


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("batch['labels']", "shape=(4, 512) dtype=int64 device=cpu"),
        ("batch['labels'].shape", "(4, 512)"),
        ("batch['labels'].dtype", "int64"),
        ("self.config.vocab_size", "32000"),
        ("rows[0]", "5"),
        ("rows[9]", None), ("self.other", None), ("f(x)", None), ("x y", None), ("batch[labels]", None), ("", None),
    ],
)  # fmt: skip
def test_the_value_of_an_expression(expression: str, shown: str | None, tool: Diagnoser) -> None:
    labels = {"type": "torch.Tensor", "shape": [4, 512], "dtype": "int64", "device": "cpu"}
    values = {
        "batch": {"type": "dict", "length": 1, "items": {"labels": labels}},
        "self": {"type": "M", "attributes": {"config": {"type": "C", "attributes": {"vocab_size": {"type": "int", "value": 32000}}}}},
        "rows": {"type": "list", "length": 3, "items": [{"type": "int", "value": 5}]},
    }
    facts = _written(exceptions=[{"type": "RuntimeError", "message": "flux 7 is gone", "frames": [{"file": "run.py", "line": 4, "function": "step", "locals": values}]}])
    found = tool.observe([from_text(TRACEBACK), _source(facts)])
    assert value_in(found.failures[0].frames, expression) == shown


def test_values_join_the_frames_of_a_notebook(tmp_path: Path, tool: Diagnoser) -> None:
    (tmp_path / "output.log").write_text(
        "---------------------------------------------------------------------------\n"
        "ValueError                                Traceback (most recent call last)\n"
        "Cell In[2], line 3\n      1 rows = [1]\n----> 3 Model().step(rows)\n\n"
        "File /env/lib/python3.11/site-packages/trl/model.py:7, in Model.step(self, rows)\n      6 def step(self, rows):\n----> 7     raise ValueError('too few rows')\n\n"
        "ValueError: too few rows\n"
    )
    known = [{"file": "/tmp/ipykernel_41/1234.py", "line": 3, "function": "<module>", "locals": {"rows": {"type": "list", "length": 1}}},
             {"file": "/env/lib/python3.11/site-packages/trl/model.py", "line": 7, "function": "step", "locals": {"rows": {"type": "list", "length": 5}}}]  # fmt: skip
    error = {"type": "ValueError", "module": "builtins", "message": "too few rows", "notes": [], "link": "", "of": -1, "frames": known}
    (tmp_path / "0-41.crash.json").write_text(json.dumps({"crash_facts": hook.FORMAT, "how": "cell", "exceptions": [error]}))
    shown = {one["function"]: one["values"] for one in tool.report(from_path(tmp_path)).crash}
    told = [value["value"] for values in shown.values() for value in values]
    assert told == ["list, len=5", "list, len=1"]  # of the method, which IPython calls Model.step, and of the cell

EXPLAINED = {
    "a gather": (
        "import torch\ndef loss(logits, labels):\n    shift = logits[:, :-1]\n    return torch.gather(shift, 2, labels.unsqueeze(-1))\n"
        "loss(torch.randn(4, 11, 32), torch.zeros(4, 12, dtype=torch.long))\n",
        ["- shift = shape=(4, 10, 32) dtype=float32 device=cpu", "- labels: shape=(4, 12) dtype=int64 device=cpu"],
    ),
    "a stack": (
        "import torch\ndef pack(rows):\n    return torch.stack([row['ids'] for row in rows])\n"
        "pack([{'ids': torch.zeros(7)}, {'ids': torch.zeros(9)}])\n",
        ["- rows[0]['ids']: shape=(7,) dtype=float32", "- rows[1]['ids']: shape=(9,) dtype=float32"],
    ),
    "an own assertion": (
        "import torch\ndef check(labels, logits):\n    assert labels.shape[1] == logits.shape[1], 'our own check'\n"
        "check(torch.zeros(4, 512), torch.zeros(4, 511, 32))\n",
        ["- labels = shape=(4, 512)", "- logits = shape=(4, 511, 32)"],
    ),
    "an own exception": (
        "class Config:\n    def __init__(self):\n        self.heads, self.width = 12, 100\ndef build(config):\n"
        "    if config.width % config.heads:\n        raise ValueError('the width cannot be cut into that many pieces')\nbuild(Config())\n",
        ["- config.heads: 12", "- config.width: 100"],
    ),
    "an empty list": (
        "def mean(total, parts):\n    return total / len(parts)\nmean(3.0, [])\n", ["- len(parts) = 0", "- total: 3.0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPLAINED)
def test_an_explanation_of_a_real_crash_shows_the_values(name: str, tmp_path: Path, tool: Diagnoser) -> None:
    code, wanted = EXPLAINED[name]
    if "import torch" in code:
        pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(f"from troubleshooter import hook\nhook.install(folder='facts')\n{code}")
    with (tmp_path / "output.log").open("wb") as log:
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}
        subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=environment, stdout=log, stderr=log, timeout=120)
    report = tool.report(from_path(tmp_path))
    assert report.explained is not None
    assert [one.id for one in report.diagnoses] == []
    shown = str(report)
    assert [one for one in wanted if one not in shown] == []


def test_values_of_lengths_and_sizes() -> None:
    frame = Frame("train.py", 1, "step")
    frame.values = {"x": {"type": "torch.Tensor", "shape": [4, 512], "dtype": "int64", "device": "cpu"}, "names": {"type": "list", "length": 3}}
    expressions = ["len(x)", "len(names)", "x.shape[-1]", "x.size(0)", "x.size()", "x.dim()", "x.ndim", "x.shape[2]", "len(other)"]
    assert [value_in([frame], one) for one in expressions] == ["4", "3", "512", "4", "(4, 512)", "2", "2", None, None]
