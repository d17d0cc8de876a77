"""A warning or a retry notice never comes before the exception that ended the run."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

CRASH = (
    "Traceback (most recent call last):\n"
    '  File "/home/me/train.py", line 40, in <module>\n    trainer.train()\n'
    '  File "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py", line 2241, in train\n'
    "    return inner_training_loop(\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.19 GiB is free.\n"
)
NOTICES = [
    "wandb: Network error (ReadTimeout), entering retry loop.",
    "wandb: Network error (ConnectionError), entering retry loop.",
    "2026-01-03 10:00:00 WARNING train.py:31 Network error (ConnectTimeout), entering retry loop",
]


@pytest.mark.parametrize("notice", NOTICES)
def test_the_exception_that_ended_the_run_stands_first(tool: Diagnoser, notice: str) -> None:
    [first, *rest] = tool.report([from_text(f"{notice}\n{CRASH}")], top=9).diagnoses
    assert first.id == "cuda-out-of-memory"
    assert all(other.severity == "crash" for other in rest)


def test_alone_the_notice_is_the_answer(tool: Diagnoser) -> None:
    assert tool.report([from_text(f"{NOTICES[0]}\n")]).diagnoses[0].id == "wandb-network"


def test_a_fatal_line_stands_before_an_exception_with_several_causes(tool: Diagnoser) -> None:
    found = tool.report([from_text(f"wandb.errors.CommError: Network error (ConnectTimeout)\n{CRASH}")]).diagnoses
    assert "cuda-out-of-memory" in {one.id for one in found}


@pytest.mark.parametrize(
    "line",
    [
        "x - WARNING - Unsloth: Input IDs of length 5000 > the model's max sequence length of 2048. We shall truncate it ourselves.",
        "x - WARNING - unable to load strategy chat_template: no module, falling back to alpaca",
        "[WARNING] Input prompt (9000 tokens) is too long and exceeds limit of 8192, skipping it",
    ],
)
def test_a_line_that_says_how_the_run_goes_on_is_at_most_possible(tool: Diagnoser, line: str) -> None:
    found = tool.report([from_text(f"{line}\n")]).diagnoses
    assert found
    assert found[0].confidence == "possible"


@pytest.mark.parametrize(
    "line",
    [
        "x - WARNING - Only mono-channel audio is supported for input to Encoder. We will take the mean of the channels to convert to mono.",
        "x - WARNING - Current length of row(4112) is larger than the max_length(4096), deleted.",
        "[INFO] No vLLM installed, if you are using vLLM, you will get `ImportError: cannot import name 'get_vllm_engine' from 'swift.llm'`",
        "[WARNING:swift] The current version of vLLM does not support `enable_lora`. Ignored.",
    ],
)
def test_a_warning_whose_entry_knows_that_the_run_goes_on_is_no_answer(tool: Diagnoser, line: str) -> None:
    assert not tool.report([from_text(f"{line}\n")]).diagnoses


def test_a_step_that_is_skipped_is_no_such_line(tool: Diagnoser) -> None:
    steps = "".join(
        f"[INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {2**n}, reducing to {2 ** (n - 1)}\n"
        for n in range(5, 0, -1)
    )
    assert tool.report([from_text(steps)]).diagnoses[0].confidence != "possible"


WARNED = "UserWarning: Cannot calculate aLoRA offsets when only inputs_embeds are provided. Disabling aLoRA for this forward pass.\n"
UNKNOWN = (
    "Traceback (most recent call last):\n"
    '  File "/home/me/project/train.py", line 41, in <module>\n'
    "    x = compute(batch)\n"
    "KeyError: 'prompt_text'\n"
)


def test_a_warning_about_results_above_an_unknown_crash_is_at_most_possible(tool: Diagnoser) -> None:
    assert [one.confidence for one in tool.diagnose(WARNED).diagnoses] == ["certain"]
    assert [one.confidence for one in tool.diagnose(WARNED + UNKNOWN).diagnoses] == ["possible"]
    assert [one.confidence for one in tool.diagnose(UNKNOWN + WARNED).diagnoses] == ["certain"]
