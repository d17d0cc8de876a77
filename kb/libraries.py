"""Libraries that an entry may speak of, and the words that a log shows them by. Data: one line a library.

PyTorch, transformers and Python are not among them: every log of this field is theirs.
"""

from __future__ import annotations

import re

from kb import lazy

SIGNS: dict[str, tuple[str, ...]] = {
    "unsloth": ("unsloth", "fastlanguagemodel", "fastvisionmodel"), "trl": ("trl", "sfttrainer", "dpotrainer", "grpotrainer", "ppotrainer", "sftconfig"),
    "deepspeed": ("deepspeed", "zero_stage", "ds_config", "offload_optimizer", "offload_param"), "llama-factory": ("llamafactory", "llama-factory", "llama_factory", "llmtuner"),
    "axolotl": ("axolotl",), "vllm": ("vllm",), "verl": ("verl",), "lightning": ("lightning", "pl.trainer"), "megatron": ("megatron", "mcore"),
    "torchtune": ("torchtune", "tune run"), "ms-swift": ("ms-swift", "ms_swift", "swift"), "openrlhf": ("openrlhf",), "nemo": ("nemo",),
    "kohya": ("kohya", "sd-scripts", "sd_scripts", "musubi_tuner", "musubi-tuner"), "fastchat": ("fastchat", "fschat"), "colossalai": ("colossalai",),
    "sglang": ("sglang",), "fairseq": ("fairseq",), "mmengine": ("mmengine",), "sentence-transformers": ("sentence_transformers", "sentence-transformers"),
}  # fmt: skip
"""By the name that texts use: what of it stands in a log, in lower case."""
_SPOKEN = lazy.compile(r"(?i)(?<![\w-])(" + "|".join(map(re.escape, SIGNS)) + r"|llamafactory)(?![\w-])")


def spoken_of(text: str) -> set[str]:
    """The libraries that a text names."""
    return {"llama-factory" if (name := found.lower()) == "llamafactory" else name for found in _SPOKEN.findall(text)}
