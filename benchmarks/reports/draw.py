"""The queries by which the reports were found: ``python -m benchmarks.reports.draw [--seed N] [--count N]``.

Each query joins a project, a class of failure and a marker of the period (a release, model, device or method that did
not exist before the middle of 2025). A seeded generator chooses the three, so that nobody picks famous threads. The
lists were written down before the first query was sent; `README.md` says which threads of an answer are taken.
"""

from __future__ import annotations

import argparse
from random import Random

SEED = 20261123
"""Of the published draw."""

PROJECTS = (
    "transformers Trainer",
    "trl GRPOTrainer",
    "trl SFTTrainer",
    "trl DPOTrainer",
    "peft LoRA",
    "accelerate launch",
    "datasets map",
    "torch FSDP2",
    "torch.compile training",
    "DeepSpeed ZeRO",
    "unsloth",
    "LLaMA-Factory",
    "ms-swift",
    "axolotl",
    "verl",
    "OpenRLHF",
    "NeMo-RL",
    "Megatron-Bridge",
    "Megatron-LM",
    "SkyRL",
    "prime-rl",
    "slime",
    "AReaL",
    "vLLM weight sync rollout",
    "SGLang rollout",
    "torchao",
    "bitsandbytes",
    "Liger-Kernel",
    "flash-attn",
    "torchtitan",
    "sentence-transformers training",
    "llama.cpp convert_hf_to_gguf",
)
"""Trackers that people who fine-tune write to, or the words that lead to them."""

FAILURES = (
    "AttributeError",
    "TypeError unexpected keyword argument",
    "ImportError cannot import name",
    "ModuleNotFoundError",
    "KeyError",
    "ValueError",
    "RuntimeError size mismatch",
    "RuntimeError dtype mismatch",
    "tensors on different devices",
    "CUDA out of memory",
    "CUDA error illegal memory access",
    "NCCL timeout hang",
    "AssertionError",
    "NotImplementedError",
    "IndexError",
    "loss is NaN",
    "loss is zero or does not decrease",
    "element 0 of tensors does not require grad",
    "checkpoint resume fails",
    "save_pretrained merge adapter error",
    "tokenizer chat template error",
    "undefined symbol",
    "gradient checkpointing error",
    "multimodal image tokens mismatch",
    "OSError loading model",
    "killed worker died",
)
"""Classes of failure in neutral words."""

MARKERS = (
    "transformers 4.54",
    "transformers 4.56",
    "transformers 4.57",
    "transformers v5",
    "transformers 5.3",
    "torch 2.8",
    "torch 2.9",
    "torch 2.10",
    "vLLM 0.10",
    "vLLM 0.11",
    "vLLM 0.17",
    "trl 0.20",
    "trl 0.24",
    "trl 1.0",
    "peft 0.17",
    "peft 0.18",
    "datasets 4.0",
    "accelerate 1.10",
    "Qwen3-VL",
    "Qwen3-Next",
    "Qwen3.5",
    "Qwen3-Omni",
    "Qwen3 MoE",
    "gpt-oss",
    "Gemma 3n",
    "Gemma 4",
    "GLM-4.5",
    "GLM-4.7",
    "DeepSeek-V3.2",
    "InternVL3.5",
    "Nemotron 3",
    "Ministral 3",
    "LFM2",
    "Python 3.13",
    "RTX 5090 Blackwell",
    "B200",
    "DGX Spark GB10",
    "CUDA 13",
    "GSPO",
    "async agent loop",
    "FP8",
    "NVFP4",
    "ROCm MI300",
    "Ascend NPU",
)
"""What did not exist, or was not in use, before the middle of 2025."""


def queries(count: int, seed: int = SEED) -> list[str]:
    """The first `count` different queries of a seed, in the order in which they are sent."""
    choose, found = Random(seed), dict[str, None]()
    while len(found) < count:
        words = choose.choice(PROJECTS), choose.choice(FAILURES), choose.choice(MARKERS)
        found.setdefault("{} {} {} fixed".format(*words))
    return list(found)


def main() -> None:
    args = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    args.add_argument("--seed", type=int, default=SEED)
    args.add_argument("--count", type=int, default=200)
    asked = args.parse_args()
    print("\n".join(queries(asked.count, asked.seed)))


if __name__ == "__main__":
    main()
