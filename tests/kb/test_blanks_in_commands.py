"""A command says what the reader has to put in, and what it deletes."""

from __future__ import annotations

import pytest

from kb.form import EntryFix
from kb.proof.blanks import blanks


def faults(do: str, shell: str) -> list[str]:
    return list(blanks(EntryFix(do=do, shell=shell)))


@pytest.mark.parametrize(
    ("shell", "word"),
    [
        ("swift sft ... --packing false", "..."),
        ("vllm serve MODEL --dtype half", "MODEL"),
        ("hf download OWNER/NAME", "OWNER, NAME"),
        ("rm -rf ~/.cache/torch_extensions", "deletes"),
        ("ray stop --force; ray start --head", "ends"),
        ("pip install torch --index-url https://download.pytorch.org/whl/cu128", "for which machine"),
    ],
)
def test_what_is_left_open_is_refused(shell: str, word: str) -> None:
    [said] = faults("Start it again", shell)
    assert word in said


@pytest.mark.parametrize(
    ("do", "shell"),
    [
        ("Start it again", "swift sft --packing false      # and your other options ..."),
        ("Start it again", "vllm serve MODEL      # MODEL: the model's folder"),
        ("Delete the compiled extensions", "rm -rf ~/.cache/torch_extensions"),
        ("Unset the variables", "unset MODEL_NAME HF_TOKEN; env | grep NCCL_; export NAME=1"),
        ("Look for killed processes", "dmesg | grep -i 'killed process'; docker run --rm nvidia/cuda nvidia-smi"),
        ("Serve it", "vllm serve <<model:word|MODEL>>"),
        (
            "Install it",
            "pip install torch --index-url https://download.pytorch.org/whl/cu128      # the CUDA of your torch",
        ),
        ("Install it", "pip install torch      # for an old card --index-url https://download.pytorch.org/whl/cu126"),
    ],
)
def test_what_is_said_is_accepted(do: str, shell: str) -> None:
    assert not faults(do, shell)
