"""The trial on a GPU, with a GPU that is made up: what each step asks, and what it holds for wrong."""

from __future__ import annotations

import itertools
import json
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kb.errors import UsageError
from troubleshooter.verify import matrix
from troubleshooter.verify.device import Gpu
from troubleshooter.verify.gpu.bench import Bench, JobSample
from troubleshooter.verify.gpu.command import carried
from troubleshooter.verify.gpu.steps import STEPS, StepResult, run_steps
from troubleshooter.verify.outcome import ProbeOutcome
from troubleshooter.verify.probe import Probe

GPU_OF_TESTS = Gpu(0, "NVIDIA H100", "GPU-aa", "0000:01:00.0", 81559, 80000, (9, 0), "Default")
OVERFLOW = {"largest": 65504.0, "product_overflows": True, "sum_overflows": True, "autocast_overflows": True}
NO_OVERFLOW = {"largest": 3e38, "product_overflows": False, "sum_overflows": False, "autocast_overflows": False}
MEASURED: dict[str, dict[str, Any]] = {
    "host": {"torch": "2.13.0", "device": "cuda", "name": "NVIDIA H100"},
    "ranges": {"float16": OVERFLOW, "bfloat16": NO_OVERFLOW},
    "scaling": {
        "usual": {"moved": True, "scale": 65536.0},
        "overflow": {"moved": False, "scale": 32768.0},
        "float16": "Attempting to unscale FP16 gradients.",
    },
    "quantized": {
        "bitsandbytes": "0.49.2", "4-bit": {"out": True, "gradient": True}, "8-bit": {"out": True, "gradient": True},
    },
    "context": {},
}  # fmt: skip


@dataclass(frozen=True)
class MadeUpBench(Bench):
    """A GPU that answers as it is told to. ``slower`` and ``taken_mb`` are what the job beside a probe notices."""

    said: Mapping[str, Any] = field(default_factory=dict)
    slower: float = 1.0
    taken_mb: int = 700
    verdict_seconds: float = 4.0
    free_when_crowded_mb: int = 900
    clock: list[float] = field(default_factory=lambda: [time.time()])
    phases: list[str] = field(default_factory=list)

    def measure(self, name: str, *arguments: str) -> dict[str, Any]:
        found = {**MEASURED, **self.said}[name]
        if isinstance(found, Exception):
            raise found
        if name == "context":
            self._step("bare", 400)
        return dict(found)

    def gpus(self) -> list[Gpu]:
        return [
            GPU_OF_TESTS
            if "crowd" not in self.phases
            else Gpu(*[*GPU_OF_TESTS.as_row().values()][:5], self.free_when_crowded_mb, (9, 0), "Default")
        ]

    def wait(self, seconds: float) -> None:
        if self.phases and self.phases[-1] != "crowd":
            self._step("wait", 0)

    def probe(
        self, shipped: Probe, device: str, seconds: float = 40.0, environ: Mapping[str, str] | None = None
    ) -> ProbeOutcome:
        said = self.said.get(shipped.name)
        if isinstance(said, ProbeOutcome):
            return said
        if self.phases:
            self._step("probe", self.taken_mb)
        if shipped.name == "never-returns":
            return ProbeOutcome("timeout", "stopped", ({"kind": "note", "text": "started"},), seconds, 100, "")
        if environ is not None:
            return ended({"kind": "undecided", "reason": "this torch sees no GPU"})
        return ended({"kind": "symptom", "occurred": True})

    @contextmanager
    def job(self, leave_mb: int) -> Iterator[list[JobSample]]:
        samples: list[JobSample] = []
        self.phases.append("crowd" if leave_mb < 2048 else "job")
        self.samples.append(samples)
        yield samples
        self.phases.clear()

    samples: list[list[JobSample]] = field(default_factory=list)

    def _step(self, phase: str, taken: int) -> None:
        if not self.samples:
            return
        after = any(one.free_mb == 3072 - self.taken_mb for one in self.samples[-1])
        seconds = 0.01 * (self.slower if after else 1.0)
        self.samples[-1].append(JobSample(time.time(), seconds, 3072 - taken))

    def verify(self, entry: str) -> tuple[float, int, str]:
        return self.verdict_seconds, 1, "confirmed"


def ended(*rows: dict[str, Any]) -> ProbeOutcome:
    return ProbeOutcome("ended", "", rows, 3.0, 300, "")


def tried(**more: Any) -> dict[str, StepResult]:
    more.setdefault("probes", ["unscale-fp16", "index-out-of-range"])
    return {result.step: result for result in run_steps(MadeUpBench("python", "cuda", **more))}


def test_a_gpu_on_which_all_is_well_passes_every_step() -> None:
    found = tried()
    assert {name: (one.status, one.why) for name, one in found.items()} == {step.name: ("passed", "") for step in STEPS}
    assert found["beside"].facts["taken_mb"] == 700
    assert found["beside"].facts["context_mb"] == 400
    assert set(found["probes"].facts["probes"]["unscale-fp16"]) == {"cpu", "cuda"}
    assert set(found["probes"].facts["probes"]["index-out-of-range"]) == {"cpu"}, "a probe of processors alone"
    assert "900 MB free" in found["crowded"].facts["refused"]


@pytest.mark.parametrize(
    ("step", "more", "why"),
    [
        ("ranges", {"said": {"ranges": {"float16": OVERFLOW, "bfloat16": OVERFLOW}}}, "bfloat16: product_overflows is True"),
        ("scaling", {"said": {"scaling": {**MEASURED["scaling"], "float16": ""}}}, "are not refused"),
        ("scaling", {"said": {"scaling": {**MEASURED["scaling"], "overflow": {"moved": True, "scale": 65536.0}}}}, "a step that overflows"),
        ("quantized", {"said": {"quantized": {**MEASURED["quantized"], "4-bit": {"out": False, "gradient": True}}}}, "4-bit"),
        ("beside", {"taken_mb": 1200}, "the probe took 1200 MB, 400 of them its context; 512 are allowed"),
        ("beside", {"slower": 2.0}, "the job's steps took 0.01 s before and 0.02 s after"),
        ("crowded", {"free_when_crowded_mb": 4000}, "was chosen"),
        ("too-much", {"said": {"takes-too-much": ended({"kind": "symptom", "occurred": False})}}, "1 GiB was not refused"),
        ("never-returns", {"said": {"never-returns": ended()}}, "it ended as ended"),
        ("verdict", {"verdict_seconds": 14.0}, "the verdict took 14.0 s"),
        ("host", {"said": {"host": RuntimeError("measuring host: no driver")}}, "RuntimeError: measuring host: no driver"),
    ],
)  # fmt: skip
def test_what_is_wrong_fails_its_step_and_no_other(step: str, more: dict[str, Any], why: str) -> None:
    found = tried(**more)
    assert found[step].status == "failed"
    assert why in found[step].why
    assert [name for name, one in found.items() if one.status == "failed"] == [step]


def test_other_answers_on_the_two_devices_are_reported() -> None:
    class Unlike(MadeUpBench):
        def probe(
            self, shipped: Probe, device: str, seconds: float = 40.0, environ: Mapping[str, str] | None = None
        ) -> ProbeOutcome:
            if device == "cuda" and shipped.name == "pad-token":
                return ended({"kind": "symptom", "occurred": False})
            return super().probe(shipped, device, seconds, environ)

    found = {one.step: one for one in run_steps(Unlike("python", "cuda", probes=["pad-token"]))}
    assert found["probes"].status == "failed"
    assert "pad-token: {'cpu': [True], 'cuda': [False]}" in found["probes"].why


def test_without_bitsandbytes_the_step_says_what_to_give() -> None:
    missing = RuntimeError("measuring quantized: ModuleNotFoundError: No module named 'bitsandbytes'")
    assert tried(said={"quantized": missing})["quantized"].status == "skipped"
    assert "--wheels DIR" in tried(said={"quantized": missing})["quantized"].why


def test_a_step_for_which_no_time_is_left_is_left_out() -> None:
    minutes = itertools.count(0.0, 60.0)
    found = list(run_steps(MadeUpBench("python", "cuda", probes=[]), total=480, clock=lambda: next(minutes)))
    assert [one.step for one in found] == [step.name for step in STEPS]
    assert found[0].status == "passed"
    assert found[-1].status == "skipped"
    assert "s are left" in found[-1].why


def test_a_processor_leaves_out_what_only_a_gpu_has() -> None:
    found = {one.step: one for one in run_steps(MadeUpBench("python", "cpu", probes=["pad-token"]))}
    assert {name for name, one in found.items() if one.status == "skipped"} == {"crowded", "too-much"}
    assert not [one for one in found.values() if one.status == "failed"]


def test_the_steps_fit_their_eight_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    assert sum(step.seconds for step in STEPS) <= 480
    assert matrix.main(["--device", "cuda", "--all", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert all(step.name in said for step in STEPS)


def test_wheels_are_carried_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/own")
    with zipfile.ZipFile(tmp_path / "carried-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("carried/__init__.py", "here = True\n")
    path = carried(tmp_path, tmp_path / "place")
    assert path == f"{tmp_path / 'place' / 'wheels'}:/own"
    assert (tmp_path / "place" / "wheels" / "carried" / "__init__.py").exists()


def test_wheels_that_cannot_be_used_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix.main(["--all", "--device", "cpu", "--wheels", str(tmp_path)]) == 2
    assert "no wheels there" in capsys.readouterr().err
    (tmp_path / "broken-1.0-py3-none-any.whl").write_text("no archive")
    with pytest.raises(UsageError, match="cannot be unpacked"):
        carried(tmp_path, tmp_path / "place")


def test_an_interpreter_without_torch_fails_with_its_words_and_is_recorded(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'ModuleNotFoundError: No module named torch' >&2\nexit 1\n")
    python.chmod(0o755)
    bench = Bench(str(python), "cpu", probes=[])
    with pytest.raises(RuntimeError, match="measuring host: ModuleNotFoundError"):
        bench.measure("host")
    with pytest.raises(RuntimeError, match="did not start: ModuleNotFoundError"), bench.job(100):
        pass


def test_a_row_of_the_record_is_json() -> None:
    assert json.loads(json.dumps([one.facts for one in tried().values()], default=list))
