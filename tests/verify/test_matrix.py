"""The probes over real libraries: affected and repaired pairs of the founding failures, and of every other probe.

Needs environments (``TROUBLESHOOT_ENVS``, made on demand from the package index: torch once, a folder a version).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from troubleshooter.verify import environment, matrix, probe, record, runner
from troubleshooter.verify.judge import by_run
from troubleshooter.verify.matrix import Bare, MatrixJob
from troubleshooter.verify.overlays import Overlays, Unbuildable
from troubleshooter.verify.probe import Probe
from troubleshooter.verify.verdict import Verdict

from .conftest import SHARING

FOUNDING = ("cache-float", "dtype-mismatch", "nan-trainables")
MEMORY_MB = 500


def pairs(*names: str) -> list[Any]:
    """(probe, parameters, versions, expected verdict) of every pair of the named probes."""
    found = []
    for name in names:
        for expected, versions, *given in probe.load(name).pairs:
            shown = "-".join([name, *versions.values(), *map(str, (given[0] if given else {}).values())])
            found.append(pytest.param(name, given[0] if given else {}, versions, expected, id=shown))
    return found


def over(name: str, given: dict[str, Any], versions: dict[str, str], overlays: Overlays) -> Verdict:
    shipped = probe.load(name)
    entry = Bare(name, shipped.question, (name, given))
    return matrix.over(MatrixJob(entry, None, shipped, shipped.options(given), "", versions), overlays)


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "given", "versions", "expected"), pairs(*FOUNDING))
def test_the_founding_failures(
    name: str, given: dict[str, Any], versions: dict[str, str], expected: str, overlays: Overlays, tmp_path: Path
) -> None:
    said = over(name, given, versions, overlays)
    assert said.verdict == expected, f"{said.reason}\n{said.tail}"
    assert said.peak_mb < MEMORY_MB
    shipped = probe.load(name)
    written = record.write(said, shipped, shipped.options(given), tmp_path)
    assert json.loads(written.read_text())["verdict"] == expected


OTHERS = [name for name in probe.names() if name not in FOUNDING and probe.load(name).pairs]


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "given", "versions", "expected"), pairs(*OTHERS))
def test_the_other_probes(
    name: str, given: dict[str, Any], versions: dict[str, str], expected: str, overlays: Overlays
) -> None:
    said = over(name, given, versions, overlays)
    assert said.verdict == expected, f"{said.reason}\n{said.tail}"
    assert said.peak_mb < MEMORY_MB


@pytest.mark.matrix
def test_where_use_cache_has_to_go(overlays: Overlays) -> None:
    """On a multimodal Gemma 3 of 4.50 the advice in circulation has no effect; the study measured what has."""
    versions = {"transformers": "4.50.3", "accelerate": "1.5.2"}
    said = over("cache-float", {"model_class": "Gemma3ForConditionalGeneration"}, versions, overlays)
    helped = {fix.do.partition(": ")[2]: fix.removes_symptom for fix in said.fixes}
    assert helped["use_cache=False in the (text) config that the model is built from"] is True
    assert helped["model.language_model.config.use_cache = False after loading"] is True
    assert helped["model.config.text_config.use_cache = False after loading (advice in circulation)"] is False
    assert helped["model.config.use_cache = False after loading"] is False
    priced = next(fix.cost for fix in said.fixes if fix.cost)
    assert priced["peak_mb"]["with"] > 0
    assert priced["seconds_per_step"]["with"] > 0


@pytest.mark.matrix
def test_float32_weights_do_not_show_it(overlays: Overlays) -> None:
    versions = {"transformers": "4.50.3", "accelerate": "1.5.2"}
    assert over("cache-float", {"dtype": "float32"}, versions, overlays).verdict == "not-here"
    assert over("cache-float", {"autocast": "no"}, versions, overlays).verdict == "not-here"


MAKE = """
import sys, torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig
config = Gemma3TextConfig(vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=4,
    num_attention_heads=2, num_key_value_heads=1, head_dim=32, sliding_window=8, pad_token_id=0)
torch.manual_seed(0)
model = Gemma3ForCausalLM(config).to(torch.bfloat16)
for name, parameter in model.named_parameters():
    if "post_" in name:
        parameter.data.fill_(float(sys.argv[2]) - 1)
model.save_pretrained(sys.argv[1])
"""


@pytest.fixture(scope="session")
def checkpoints(overlays: Overlays, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two checkpoints: one whose activations fit into float16, and one whose norms' gains drive them out of it."""
    path = overlays.path({"transformers": "4.57.6"})
    made = {}
    for name, gain in (("small", "1"), ("large", "12000")):
        made[name] = tmp_path_factory.mktemp(name)
        environ = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"}
        subprocess.run([str(overlays.python), "-c", MAKE, str(made[name]), gain], env=environ, check=True)
    return made


@pytest.mark.matrix
@pytest.mark.parametrize("transformers", ["4.57.6", "5.23.0"])
@pytest.mark.parametrize(
    ("weights", "precision", "expected"),
    [
        ("small", "weights", "not-here"),
        ("large", "weights", "confirmed"),
        ("large", "autocast", "not-here"),  # float32 weights keep the residual stream in float32
        (None, "weights", "cannot-tell"),
    ],
)
def test_float16_overflow_is_measured_with_the_users_weights(
    transformers: str,
    weights: str | None,
    precision: str,
    expected: str,
    overlays: Overlays,
    checkpoints: dict[str, Path],
) -> None:
    shipped = probe.load("fp16-range")
    environ = {**os.environ, "PYTHONPATH": overlays.path({"transformers": transformers, "accelerate": "1.10.1"})}
    outcome = runner.run(
        shipped,
        str(overlays.python),
        shipped.options({"precision": precision}),
        environ=environ,
        model=checkpoints[weights] if weights else None,
    )
    entry = Bare("fp16-overflow-zero-loss", "", ("fp16-range", {}))
    said = by_run(entry, environment.ask(str(overlays.python)), outcome, "cpu")
    assert said.verdict == expected, f"{said.reason}\n{outcome.tail}"
    if weights is None:
        assert said.mechanism, "the demonstration is shown, and labelled as one"
        assert "--model" in said.reason
    if expected == "confirmed":
        assert [fix.removes_symptom for fix in said.fixes] == [True, True]
    if weights:
        words = {"small": "cannot exceed", "large": "may exceed"}[weights]
        assert any(words in note for note in said.notes)


SHOWN = [
    ("cache-float", {"transformers": "4.50.3", "accelerate": "1.5.2"}, "has no attribute 'float'"),
    ("unscale-fp16", {}, "Attempting to unscale FP16 gradients"),
    ("dtype-mismatch", {"transformers": "4.57.6", "accelerate": "1.10.1"}, "to have the same dtype"),
    ("index-out-of-range", {"transformers": "4.57.6", "accelerate": "1.10.1"}, "index out of range in self"),
    (
        "checkpoint-no-grad",
        {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.18.1"},
        "does not have a grad_fn",
    ),
    ("keep-torch-compile", {"transformers": "4.57.6", "accelerate": "1.2.1"}, "keep_torch_compile"),
    (
        "adapter-size-mismatch",
        {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.18.1"},
        "size mismatch for",
    ),
    ("pad-token", {"transformers": "4.57.6", "accelerate": "1.10.1"}, "no padding token is defined"),
    ("ddp-unused-parameters", {}, "finished reduction in the prior iteration"),
]


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "versions", "message"), SHOWN, ids=[name for name, _, _ in SHOWN])
def test_the_lines_to_run_by_hand_show_the_failure(
    name: str, versions: dict[str, str], message: str, overlays: Overlays, tmp_path: Path
) -> None:
    shipped: Probe = probe.load(name)
    code = shipped.shown(shipped.options({})).replace("/tmp/ddp-demo", str(tmp_path / "store"))
    environ = {**os.environ, "PYTHONPATH": overlays.path(versions), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    overlays.base()
    done = subprocess.run(
        [str(overlays.python), "-W", "ignore", "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.matrix
def test_workers_of_a_real_loader_are_ended(overlays: Overlays, write: Any, nothing_left: None) -> None:
    overlays.base()
    hanging = write(
        """
        torch = kit.need("torch")
        class Slow(torch.utils.data.Dataset):
            def __len__(self):
                return 8
            def __getitem__(self, index):
                import time
                return torch.zeros(1 << 20) if index < 2 else time.sleep(600)
        for batch in torch.utils.data.DataLoader(Slow(), num_workers=2):
            kit.say("a batch came")
        """,
        SHARING,
    )
    outcome = runner.run(hanging, str(overlays.python), {}, limits=runner.Limits(seconds=8, resident_mb=3000))
    assert outcome.status == "timeout", outcome.tail


@pytest.mark.matrix
def test_rerunning_a_record_gives_its_verdict_again(overlays: Overlays, tmp_path: Path) -> None:
    asked = {"callable": "TrainingArguments", "argument": "evaluation_strategy"}
    entry = Bare("removed", "", ("removed-arguments", asked))
    shipped = probe.load("removed-arguments")
    job = MatrixJob(entry, tmp_path, shipped, shipped.options(asked), "confirmed", {"transformers": "4.51.3"})
    record.write(matrix.over(job, overlays), shipped, shipped.options(asked), tmp_path / record.FOLDER)
    ((old, new),) = matrix.rerun([(entry, tmp_path)], 3, overlays)
    assert isinstance(new, Verdict)
    assert new.verdict == old.verdict == "confirmed"
    assert list(matrix.rerun_problems([(entry, tmp_path)], 3, overlays)) == []
    old.path.write_text(old.path.read_text().replace('"confirmed"', '"not-here"'))
    (problem,) = matrix.rerun_problems([(entry, tmp_path)], 3, overlays)
    assert problem.fails
    assert "confirmed today" in problem.message


def test_what_is_not_there_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(Unbuildable, match=r"troubleshooter\.verify\.matrix"):
        Overlays(tmp_path, build=False).path({"transformers": "4.50.3"})
    assert not Overlays(tmp_path).ready({"transformers": "4.50.3"})
    with pytest.raises(Unbuildable, match=r"torch 2\.4\.1"):
        Overlays(tmp_path).path({"torch": "2.4.1"})


def test_every_probe_with_a_range_has_an_affected_and_a_repaired_pair() -> None:
    """Where every version is affected there is none that is not, and the fix flips the answer instead."""
    always = {"confirmed"}
    for name in probe.names():
        by_options: dict[str, set[str]] = {}
        for expected, _, *given in probe.load(name).pairs:
            by_options.setdefault(json.dumps(given), set()).add(expected)
        assert all(found in (always, {"not-here"}, {"confirmed", "not-here"}) for found in by_options.values())


def test_jobs_expect_what_the_entry_claims() -> None:
    claims = Bare("x", "", ("cache-float", {}), {"transformers": ">=4.50.0,<4.51.0"})
    expected = {job.versions["transformers"]: job.expected for job in matrix.jobs([(claims, None)])}
    assert expected["4.50.3"] == "confirmed"
    assert expected["4.51.0"] == "not-here"
    assert list(matrix.jobs([(Bare("y", "", ("cache-float", {"dtype": "float32"})), None)])) == []
