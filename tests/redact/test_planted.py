"""No part of a planted secret is left in a text that is written to be shared, and the diagnosis stays the same."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kb.cache import CHECKOUT
from kb.samples import below
from tests.redact import planted
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.redact import Redactor, redact

HEALTHY = Path(__file__).parent.parent / "healthy"


def told(leaking: list[planted.Planted]) -> str:
    return "\n".join(f"{one.name}: {one.text!r} -> {redact(one.text)!r}" for one in leaking[:20])


def test_there_are_enough_formats() -> None:
    assert len(planted.TOKENS) >= 121
    assert len(planted.CONTEXTS) >= 12
    assert len(list(planted.special())) >= 80


@pytest.mark.parametrize("kind", ["tokens", "special", "people"])
def test_no_planted_secret_is_left(kind: str) -> None:
    every = list(getattr(planted, kind)(seed=0))
    leaking = [one for one in every if one.leaks(redact(one.text))]
    assert not leaking, f"{len(leaking)} of {len(every)} leak:\n{told(leaking)}"


def test_the_set_itself_leaks_as_it_is() -> None:
    assert all(one.leaks(one.text) for one in planted.everything(seed=0) if "\x1b" not in one.text)


def test_lines_stay_lines() -> None:
    changed = [one for one in planted.everything(seed=0) if redact(one.text).count("\n") != one.text.count("\n")]
    assert not changed, told(changed)


def test_what_was_taken_is_counted_by_kind_and_never_shown() -> None:
    redactor = Redactor()
    first, second = (planted.take(random.Random(n), planted.ALNUM, 34) for n in (1, 2))
    text = f"HF_TOKEN=hf_{first}\nagain hf_{first}\nand hf_{second}\n/home/alicegrey/x\nmail bob@quuxcorp.com\n"
    out = redactor.redact(text)
    assert out.splitlines() == ["HF_TOKEN=<token>", "again <token>", "and <token-2>", "/home/user/x", "mail user@example.org"]
    assert redactor.taken == {"token": 2, "user": 1, "mail": 1}


def test_the_first_word_of_a_host_is_not_taken_for_a_name_everywhere() -> None:
    said = "HTTPConnectionPool(host='mlflow.lab', port=5001): url: /api/2.0/mlflow/experiments"
    assert redact(said) == said.replace("mlflow.lab", "host")


KEPT = (
    "torchrun: error: argument --master-addr/--master_addr: expected one argument",
    "ImportError: cannot import name 'builder' from 'google.protobuf.internal'",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "/root/.cache/huggingface/hub/models--org--m/snapshots/3f786850e387550fdab836ed7e6dc881de23001b/config.json",
    "GPU 0: NVIDIA A100 (UUID: GPU-5c8b1a2f-9e37-4c1d-8f3e-6b2a9d0c4e7f)",
    "Process 12 has 23.65 GiB memory in use at 0x7f3a9c2b1e40",
    "KeyError: 'base_model.model.model.layers.0.self_attn.q_proj.weight'",
    'Missing key(s) in state_dict: "model.layers.16.self_attn.q_proj.weight"',
    "pad_token='<|eot_id|>', eos_token_id=128009, max_tokens=4096, num_tokens: 1234567",
    "nvidia-cublas-cu12        12.4.5.8",
    "nvidia-cudnn-cu12==9.1.0.70",
    "cuDNN version 8.9.2.26, driver 535.104.05",
    "see https://pytorch.org/docs/stable/notes/cuda.html and https://github.com/huggingface/trl/issues/12",
    "git@github.com:huggingface/transformers.git",
    "at::native::c10::Half std::bad_alloc 12:34:56",
    "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi4EEE",
    "password authentication failed for user",
    "ValueError: token must be a string, or pass token=True",
    "The tokenizer has new PAD/BOS/EOS tokens: {'bos_token_id': 1}",
    "secret = os.environ['X']",
    "127.0.0.1:29500 0.0.0.0 localhost",
    "/home/user/project/train.py",
    "auth: none, api_key: null, token: None",
    "TypeError: AdamW8bit.__init__() got an unexpected keyword argument 'decouple'",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
)


@pytest.mark.parametrize("text", KEPT)
def test_what_a_diagnosis_needs_is_kept(text: str) -> None:
    assert redact(text) == text


def test_redaction_changes_no_diagnosis(tool: Diagnoser) -> None:
    """300 samples and healthy logs, drawn by seed."""
    logs = [(f"{id_} {sample.name}", sample.text) for id_, sample in below(CHECKOUT, "match")]
    healthy = sorted(p for p in HEALTHY.rglob("*") if p.suffix in (".log", ".txt", ".out"))
    logs += [(path.name, path.read_text(encoding="utf-8", errors="replace")) for path in healthy]
    changed = []
    for name, text in random.Random(20261123).sample(logs, 300):
        if (out := redact(text)) != text:
            before, after = tool.report([from_text(text)]), tool.report([from_text(out)])
            if [d.id for d in before.diagnoses] != [d.id for d in after.diagnoses]:
                changed.append(f"{name}: {[d.id for d in after.diagnoses]}")
    assert not changed, "\n".join(changed)
