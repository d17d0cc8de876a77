"""The index that is shipped: the file of its manifest, and what it answers."""

from __future__ import annotations

import hashlib
import json

from kb.index.make.ship import MANIFEST
from kb.index.store import FILE, MessageIndex


def test_shipped_index_is_the_one_of_the_manifest() -> None:
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    assert FILE.stat().st_size == manifest["bytes"] <= 10_000_000
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == manifest["sha256"]
    index = MessageIndex(FILE)
    assert {name: len(index.releases(name)) for name in index.packages()} == {
        name: manifest["counts"][name]["releases"] for name in index.packages()
    }
    index.close()


def test_shipped_index_knows_a_famous_message() -> None:
    index = MessageIndex(FILE)
    text = "Asking to pad but the tokenizer does not have a padding token. Please select a token to use as `pad_token`"
    found = index.find(text, "ValueError", "transformers", "_get_padding_truncation_strategies")
    index.close()
    assert found[0].in_function
    assert any("pad_token" in guard.condition for guard in found[0].sites[0].guards)


def test_compiled_text_is_found_without_a_function() -> None:
    index = MessageIndex(FILE)
    found = index.find("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn", package="torch")
    index.close()
    assert "compiled" in {item.kind for item in found}
