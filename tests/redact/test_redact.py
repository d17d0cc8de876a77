"""What should not be shared is taken out; what a diagnosis needs stays."""

from __future__ import annotations

import pytest

from troubleshooter.redact import redact


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz", "abcdefghij"),
        ("wandb api key: 0123456789abcdef0123456789abcdef01234567", "0123456789abcdef"),
        ("https://me:secretpass@proxy.example/x", "secretpass"),
        ("Authorization: Bearer abc.def.ghi", "abc.def"),
        ("password = 'hunter2hunter2'", "hunter2"),
        ("/home/jane.doe/project/train.py", "jane"),
        ("C:\\Users\\Jane\\x.py", "Jane"),
        ("mail jane@corp.example.com now", "jane@corp"),
        ("connect to 34.120.7.9:443 failed", "34.120"),
        ("connect to 10.1.2.3:29500 failed", "10.1.2.3"),
        ("AKIAABCDEFGHIJKLMNOP", "ABCDEFGH"),
    ],
)
def test_taken_out(text: str, gone: str) -> None:
    assert gone not in redact(text)


@pytest.mark.parametrize("text", ["127.0.0.1:29500", "172.17.0.1", "transformers==4.50.3", "NCCL version 2.20.5", "step 1.2.3", '"unk_token": tokenizer.convert_ids_to_tokens(0),'])
def test_kept(text: str) -> None:
    assert redact(text) == text
