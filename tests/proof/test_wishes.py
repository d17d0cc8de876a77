"""What a fix asks of the stand-ins is read from its words alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from troubleshooter.proof import execute as proof

PLACE = Path(proof.__file__).with_name("stand_ins")
SCRIPT = """
import importlib.util, json, sys, types
package = types.ModuleType("stand_ins"); package.__path__ = [sys.argv[1]]; sys.modules["stand_ins"] = package
from stand_ins.wishes import TextNeeds
wishes = TextNeeds(sys.stdin.read())
print(json.dumps(sorted(value) if isinstance(value := getattr(wishes, sys.argv[2]), set) else value))
"""


def wished(code: str, what: str) -> object:
    """One attribute of the wishes of a text; without the libraries, which only the environments of fixes have."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(PLACE), what], input=code, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("code", "what", "value"),
    [
        ("trainer = DPOTrainer(model)", "trainer", "DPO"),
        ("ds = ds.remove_columns(['id'])", "columns", ["id"]),
        ("raw['train'].map(f)", "split", ["raw"]),
        ("model.merge_and_unload()", "adapted", True),
        ("model = get_peft_model(model, c); model.merge_and_unload()", "adapted", False),
        ("print(model.active_adapters())", "adapted", False),
        ("tokenizer.train(files, trainer)", "raw_tokenizer", "tokenizer"),
        ("PreTrainedTokenizerFast(tokenizer_object=raw)", "raw_tokenizer", "raw"),
        ("processor(text=texts, images=[[r['image']] for r in rows])", "processes", True),
        ("processor(text)", "processes", False),
        ("load_file('out/model.safetensors')", "files", ["out/model.safetensors"]),
        ("save_file(weights, 'model.safetensors')", "files", []),
        ("open('a.json', 'w')", "files", []),
        ("json.load(open('a.json'))", "files", ["a.json"]),
        ("open('/etc/passwd.txt')", "files", []),
        ("torch.load(path, map_location='cpu')", "paths", {"path": "model.pt"}),
        ("trainer.train(resume_from_checkpoint=True)", "checkpoints", ["checkpoint-2"]),
        ("trainer.train(resume_from_checkpoint='run/checkpoint-500')", "checkpoint_parents", [".", "out", "run"]),
    ],
)
def test_a_text_says_what_it_needs(code: str, what: str, value: object) -> None:
    assert wished(code, what) == value
