"""Versions and metrics in the words of the programs that print them."""

from __future__ import annotations

import math

import pytest

from troubleshooter.observe.facts import GpuReader, PlatformReader, VersionReader
from troubleshooter.observe.metrics import MetricReader
from troubleshooter.observe.observations import Observations
from troubleshooter.read.split import split_line


def observe(text: str) -> Observations:
    seen = Observations()
    readers = [MetricReader(seen), VersionReader(seen), GpuReader(seen), PlatformReader(seen)]
    for number, raw in enumerate(text.encode().split(b"\n"), 1):
        for line in split_line(raw, number):
            for reader in readers:
                reader.read(line)
    return seen


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("O^O/ \\_/ \\    Torch: 2.6.0+cu124. CUDA: 7.5. CUDA Toolkit: 12.4. Triton: 3.2.0", {"torch": "2.6.0+cu124", "cuda": "12.4", "triton": "3.2.0"}),
        ("CUDA used to build PyTorch: 12.1\nPyTorch version: 2.5.1+cu121", {"torch": "2.5.1+cu121", "cuda": "12.1"}),
        ("torch version .................... 2.5.1+cu121", {"torch": "2.5.1+cu121", "cuda": "12.1"}),
        ("torch==1.13.1+cu117", {"torch": "1.13.1+cu117", "cuda": "11.7"}),
        ("deepspeed info ................... 0.15.4, unknown, unknown", {"deepspeed": "0.15.4"}),
        ("[Rank 0] DeepSpeed info: version=0.14.2, git-hash=unknown", {"deepspeed": "0.14.2"}),
        ("Initializing a V1 LLM engine (v0.10.1) with config: model=x", {"vllm": "0.10.1"}),
        ("vLLM API server version 0.10.1.1", {"vllm": "0.10.1.1"}),
        ("torch.__version__ = 2.5.1", {"torch": "2.5.1"}),
        ("Successfully installed accelerate-0.34.2 flash-attn-2.6.3.post1", {"accelerate": "0.34.2", "flash-attn": "2.6.3.post1"}),
        ('  File "/home/qa/envs/python3.91/lib/python3.9/typing.py", line 7, in inner', {"python": "3.9"}),
        ("Found existing installation: torch 2.1.0", {}),
        ("transformers>=4.45 is required", {}),
        ("RuntimeError: Transformers 4.53.* is bugged. Use transformers 4.54.0 or later.", {}),
    ],
)  # fmt: skip
def test_versions(text: str, want: dict[str, str]) -> None:
    assert {f.name: f.value for f in observe(text).facts if f.kind == "version"} == want


@pytest.mark.parametrize(
    ("text", "rocm"),
    [
        ("ROCM used to build PyTorch: N/A", False),
        ("HIP runtime version: N/A", False),
        ("ROCM used to build PyTorch: 6.1", True),
    ],
)
def test_a_report_without_rocm_names_it_too(text: str, rocm: bool) -> None:
    assert any(f.name == "rocm" for f in observe(text).facts) is rocm


@pytest.mark.parametrize(
    ("text", "name", "want"),
    [
        ("step:1 - actor/pg_loss:np.float64(0.1) - actor/grad_norm:np.float32(nan)", "grad_norm", math.nan),
        ("{'loss': np.float64(0.5), 'grad_norm': tensor(nan, device='cuda:0'), 'epoch': 0.1}", "loss", 0.5),
        ("step 10: loss=tensor(nan, device='cuda:0', grad_fn=<NllLossBackward0>)", "loss", math.nan),
        ("step=10, skipped=3, lr=[1e-05, 1e-05], mom=[[0.9, 0.95]]", "learning_rate", 1e-05),
        ("Step   Training Loss   Validation Loss\n10   0.500000   nan", "eval_loss", math.nan),
    ],
)
def test_metrics(text: str, name: str, want: float) -> None:
    (point,) = observe(text).metrics[name]
    assert point.value == want or (math.isnan(point.value) and math.isnan(want))
