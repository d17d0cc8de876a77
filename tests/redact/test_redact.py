"""Text that should not be shared is removed; text that a diagnosis needs stays."""

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
        ('co = cohere.Client("biECoZ3oS5NdtXnrLjFZlR0vBRXOzcMtytuk4eLi")', "biECoZ3oS5"),
        ("contact jörg.müller@uni-köln.de please", "müller"),
        ("/gpfs/work/ext_mkowalski/ckpt-500", "mkowalski"),
        ("/lustre/users/kfischer/run/train.py", "kfischer"),
        ("wandb: View run at https://wandb.ai/janes-group/proj/runs/ab12", "janes-group"),
        ("wandb: Currently logged in as: lena-k (nlp-lab). Use `wandb login --relogin` to force relogin", "lena-k"),
        ("wandb: Currently logged in as: lena-k (nlp-lab). Use `wandb login --relogin` to force relogin", "nlp-lab"),
        ("Linux dgx-berlin-02 5.15.0-91-generic #101-Ubuntu SMP x86_64", "berlin"),
        ("posix.uname_result(sysname='Linux', nodename='dgx2-berlin', release='5.15')", "berlin"),
        ('uname_result(system="Linux", node="dgx2-berlin", release="5.15")', "berlin"),
    ],
)
def test_taken_out(text: str, gone: str) -> None:
    assert gone not in redact(text)


@pytest.mark.parametrize("text", ["127.0.0.1:29500", "Linux kernel 5.15.0", "Red Hat Enterprise Linux Server release 7.9", 'InferenceClient("meta-llama/Llama-3-8B")', "https://wandb.ai/site/pricing and site-packages", "172.17.0.1", "transformers==4.50.3", "NCCL version 2.20.5", "step 1.2.3", '"unk_token": tokenizer.convert_ids_to_tokens(0),'])
def test_kept(text: str) -> None:
    assert redact(text) == text


def test_a_key_that_is_cut_ends_where_the_next_one_begins() -> None:
    text = "-----BEGIN RSA PRIVATE KEY-----\nMIIEcut\n-----BEGIN EC PRIVATE KEY-----\nMHcwhole\n-----END EC PRIVATE KEY-----\nstep 1"
    assert redact(text).splitlines() == ["<private-key>"] * 2 + ["<private-key-2>"] * 3 + ["step 1"]
