"""Tiny random models, a tokenizer made from a few lines, and small texts: everything a training needs, no download."""

from __future__ import annotations

import inspect
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

LINES = [
    "the river runs under the old bridge",
    "a small boat waits near the mill",
    "rain fell on the grey roofs",
    "the miller counts the sacks of flour",
    "two children throw stones at the water",
]
CHAT = (
    "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def tokenizer(length: int = 64, side: str = "right") -> Any:
    """A byte-level BPE tokenizer with pad, begin and end tokens and a chat template."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    learn = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<pad>", "<s>", "</s>"],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    raw.train_from_iterator(LINES * 3, learn)
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=length,
        padding_side=side,
        model_input_names=["input_ids", "attention_mask"],
    )
    made.chat_template = CHAT
    return made


def llama(**change: Any) -> Any:
    """A Llama of two layers with random weights."""
    torch.manual_seed(0)
    shape: dict[str, Any] = {
        "vocab_size": 384,
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**shape, **change}))


def rows(count: int = 16, length: int = 16) -> list[dict[str, Any]]:
    """Token rows that a small model can learn: each row counts upwards."""
    made = []
    for start in range(count):
        ids = torch.arange(start, start + length) % 100 + 5
        made.append({"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()})
    return made


def accepted(kind: Any, **wanted: Any) -> Any:
    """Build a config class with those of the wanted keywords that its version knows."""
    known = inspect.signature(kind.__init__).parameters
    return kind(**{key: value for key, value in wanted.items() if key in known})


def arguments(**change: Any) -> Any:
    """TrainingArguments for a short run on the CPU."""
    base: dict[str, Any] = {
        "output_dir": "out",
        "per_device_train_batch_size": 4,
        "max_steps": 8,
        "logging_steps": 1,
        "report_to": [],
        "use_cpu": True,
        "save_strategy": "no",
        "learning_rate": 5e-3,
    }
    return accepted(transformers.TrainingArguments, **{**base, **change})
