"""Libraries that an entry may be about, and the words by which a log shows them. This is data: one line for each
library.

PyTorch, transformers and Python are not listed, because every log of this field shows them.
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
"""By the name of a library as texts spell it: words in lower case by which a log shows it."""
_SPOKEN = lazy.compile(r"(?i)(?<![\w-])(" + "|".join(map(re.escape, SIGNS)) + r"|llamafactory)(?![\w-])")


def spoken_of(text: str) -> set[str]:
    """The libraries that a text names."""
    return {"llama-factory" if (name := found.lower()) == "llamafactory" else name for found in _SPOKEN.findall(text)}
