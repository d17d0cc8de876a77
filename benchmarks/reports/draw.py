"""Repeat the draw of the reports: ``python -m benchmarks.reports.draw [--seed N] [--count N] [--clones FOLDER]``.

Prints the queries for the search of threads or, with ``--clones``, the merged changes that name a printed failure, each
in the order in which they are looked at. ``FOLDER`` holds one clone a tracker, named ``OWNER+NAME``.

Each query fills a sentence with a project, an error, and a release, model or device that did not exist, or was not in
use, before the middle of 2025. A seeded generator chooses all four, so that nobody picks famous threads. The lists were
written down before the first query was sent; `README.md` says which threads of an answer are taken.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple

SEED = 20261123
"""The seed of the published draw."""

SINCE = "2025-07-01"
"""First day of the period."""

PRINTED = re.compile(
    r"\b[A-Za-z_.]*(?:Error|Exception|Unsupported|Interrupt)\b['\"`]?: +\S|Traceback \(most recent|CUDA error|CUDA out of memory"
)
"""The message of a change must contain an exception with its message, a traceback, or an error of CUDA."""


CLOSES = re.compile(
    r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\s*:?\s*(?:#\d+|https?://github\.com/[\w.-]+/[\w.-]+/issues/\d+)",
    re.IGNORECASE,
)
"""The part of a change's message that names the issue which it closes."""

NAMES_FAILURE = re.compile(r"Error|crash|fail|hang|OOM|\bnan\b|mismatch|deadlock", re.IGNORECASE)
NO_TRAINING = re.compile(r"\b(CI|tests?|docs?|README|studio|lint|typo|chat)\b", re.IGNORECASE)
"""Of the third list: what the title of a change must and must not name."""


class Change(NamedTuple):
    """A merged change: tracker (``owner/name``), commit, day (ISO) and the whole message of the commit."""

    tracker: str
    commit: str
    day: str
    message: str


SENTENCES = (
    "{project}: training crashes with {error} after upgrading to {marker}",
    "This PR fixes {error} when training with {project} and {marker}",
    "{error} with {marker} in {project}, it works after changing the version",
    "fix: {error} in {project} when fine-tuning on {marker}",
)
"""Queries of the first list, in the words of people who report or repair a failure."""

PROJECTS = (
    "transformers Trainer",
    "trl GRPOTrainer",
    "trl SFTTrainer",
    "trl DPOTrainer",
    "peft LoRA",
    "accelerate",
    "datasets",
    "torch FSDP2",
    "torch.compile",
    "DeepSpeed ZeRO-3",
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
    "vLLM rollout weight sync",
    "SGLang rollout",
    "torchao",
    "bitsandbytes",
    "Liger-Kernel",
    "flash-attn",
    "torchtitan",
    "sentence-transformers",
    "convert_hf_to_gguf",
    "a fine-tuning notebook",
    "a vision-language training script",
)
"""Trackers to which people who fine-tune write, or the words that lead to them."""

ERRORS = (
    "AttributeError: object has no attribute",
    "TypeError: got an unexpected keyword argument",
    "TypeError: missing required positional argument",
    "ImportError: cannot import name",
    "ModuleNotFoundError: No module named",
    "KeyError",
    "ValueError",
    "RuntimeError: size of tensor must match",
    "RuntimeError: expected scalar type dtype mismatch",
    "RuntimeError: expected all tensors to be on the same device",
    "torch.OutOfMemoryError: CUDA out of memory",
    "CUDA error: an illegal memory access was encountered",
    "CUDA error: no kernel image is available",
    "NCCL watchdog timeout, training hangs",
    "AssertionError",
    "NotImplementedError",
    "IndexError",
    "loss is nan",
    "loss stays 0 or grad_norm is 0",
    "element 0 of tensors does not require grad",
    "resume from checkpoint fails with an error",
    "save or merge of the adapter fails with an error",
    "chat template or tokenizer error",
    "undefined symbol ImportError",
    "gradient checkpointing CheckpointError",
    "image features and image tokens do not match",
    "OSError when loading the model",
    "DataLoader worker or Ray actor died unexpectedly",
    "torch._dynamo.exc error",
    "state_dict missing or unexpected keys",
)
"""Kinds of failures, in the words that programs print."""

MARKERS = (
    "transformers 4.54",
    "transformers 4.56",
    "transformers 4.57",
    "transformers v5",
    "transformers>=5.0",
    "transformers 5.3",
    "torch 2.8",
    "torch 2.9",
    "torch 2.10",
    "vllm 0.10",
    "vllm 0.11",
    "vllm 0.12",
    "vllm 0.17",
    "trl 0.20",
    "trl 0.23",
    "trl 0.24",
    "trl 0.29",
    "trl 1.0",
    "peft 0.17",
    "peft 0.18",
    "datasets 4.0",
    "accelerate 1.10",
    "Qwen3-VL",
    "Qwen3-Next",
    "Qwen3.5",
    "Qwen3.6",
    "Qwen3-Omni",
    "gpt-oss-20b",
    "Gemma 3n",
    "Gemma 4",
    "GLM-4.5",
    "GLM-4.7-Flash",
    "DeepSeek-V3.2",
    "InternVL3.5",
    "Nemotron 3",
    "Ministral 3",
    "LFM2",
    "Python 3.13",
    "RTX 5090",
    "DGX Spark",
    "CUDA 13",
    "B200",
)
"""Releases and features that did not exist, or were not in use, before the middle of 2025."""


def queries(count: int, seed: int = SEED) -> list[str]:
    """The first `count` different queries of a seed, in the order in which they are sent."""
    choose, found = Random(seed), dict[str, None]()
    while len(found) < count:
        sentence = choose.choice(SENTENCES)
        words = {"project": choose.choice(PROJECTS), "error": choose.choice(ERRORS), "marker": choose.choice(MARKERS)}
        found.setdefault(sentence.format(**words))
    return list(found)


BREAKS = (
    "{package} {version} breaks training: {error}",
    "{error} after upgrading to {package} {version}",
    "update for {package} {version}, fine-tuning fails with {error}",
    "pin {package} because {version} fails with {error}",
)
"""Queries of the second list: what a release changed."""

RELEASES = {
    "transformers": ("4.54", "4.55", "4.56", "4.57", "5.0", "5.2", "5.3", "5.5"),
    "trl": ("0.20", "0.22", "0.24", "0.26", "0.29", "1.0"),
    "peft": ("0.17", "0.18", "0.19"),
    "accelerate": ("1.10", "1.12"),
    "datasets": ("4.0", "4.4"),
    "torch": ("2.8", "2.9", "2.10", "2.11"),
    "vllm": ("0.10", "0.11", "0.12", "0.15", "0.17"),
    "sglang": ("0.5",),
    "deepspeed": ("0.17", "0.18"),
    "bitsandbytes": ("0.47", "0.49"),
    "unsloth": ("2025.9", "2025.12", "2026.3"),
    "torchao": ("0.12", "0.15"),
    "liger-kernel": ("0.6", "0.7"),
    "flash-attn": ("2.8",),
    "huggingface_hub": ("1.0",),
    "triton": ("3.4", "3.5"),
    "Python": ("3.13", "3.14"),
    "CUDA": ("13",),
}
"""Packages of the second list, with their releases in the period."""


def break_queries(count: int, seed: int = SEED) -> list[str]:
    """The first `count` different queries of the second list, in the order in which they are sent (the first nine errors)."""
    choose, found = Random(f"{seed} releases"), dict[str, None]()
    while len(found) < count:
        sentence, error = choose.choice(BREAKS), choose.choice(ERRORS[:9])
        package, version = choose.choice([(name, x) for name in sorted(RELEASES) for x in RELEASES[name]])
        found.setdefault(sentence.format(package=package, version=version, error=error))
    return list(found)


MET = ("{marker} {task} {error}", "{task} with {marker}: {error}", "fix {error} {marker} {task}")
"""Short queries of the third list: the newest words come first, because longer sentences led to threads of other years."""

NEWEST = (
    "transformers 5",
    "transformers v5.2",
    "trl 0.29",
    "trl 1.0",
    "torch 2.9",
    "torch 2.10",
    "vllm 0.11",
    "vllm 0.17",
    "Qwen3-VL",
    "Qwen3.5",
    "Qwen3.6",
    "Qwen3-Omni",
    "Qwen3-Next",
    "gpt-oss",
    "Gemma 4",
    "GLM-4.7",
    "Nemotron 3",
    "Ministral 3",
    "RTX 5090",
    "DGX Spark",
    "datasets 4",
    "peft 0.18",
)
"""Releases, models and devices of the period."""

TASKS = (
    "SFT",
    "LoRA",
    "GRPO",
    "DPO",
    "FSDP2",
    "DeepSpeed ZeRO-3",
    "verl",
    "unsloth",
    "LLaMA-Factory",
    "ms-swift",
    "axolotl",
    "Trainer",
)
"""What people do, or with which program."""

SYMPTOMS = (
    "AttributeError",
    "TypeError unexpected keyword argument",
    "ImportError cannot import name",
    "KeyError",
    "ValueError",
    "RuntimeError shape mismatch",
    "dtype mismatch",
    "CUDA out of memory",
    "CUDA error",
    "hang timeout",
    "loss nan",
    "loss 0",
    "save merge adapter error",
    "chat template error",
    "CheckpointError",
    "OSError",
    "torch.compile error",
    "missing keys",
)
"""What they see."""


def met_queries(count: int, seed: int = SEED) -> list[str]:
    """The first `count` different queries of the third list, in the order in which they are sent."""
    choose, found = Random(f"{seed} met"), dict[str, None]()
    while len(found) < count:
        words = {"task": choose.choice(TASKS), "error": choose.choice(SYMPTOMS), "marker": choose.choice(NEWEST)}
        found.setdefault(choose.choice(MET).format(**words))
    return list(found)


def history(clone: Path) -> list[Change]:
    """All changes of one clone in the period, newest first."""
    command = [
        "git",
        "-C",
        str(clone),
        "log",
        "--no-merges",
        f"--since={SINCE}T00:00:00Z",
        "--format=%H%x00%as%x00%B%x01",
        "HEAD",
    ]
    log = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    parts = [record.strip("\n").split("\0") for record in log.split("\1") if record.strip()]
    tracker = clone.name.replace("+", "/")
    return [Change(tracker, commit, day, message) for commit, day, message in parts]


def candidates(clone: Path) -> list[Change]:
    """The changes of one clone whose message holds a printed failure, newest first."""
    return [change for change in history(clone) if PRINTED.search(change.message)]


def closing(clone: Path) -> list[Change]:
    """The changes of one clone that close an issue and whose title names a failure, newest first."""
    titles = [(change.message.partition("\n")[0], change) for change in history(clone)]
    named = [change for title, change in titles if NAMES_FAILURE.search(title) and not NO_TRAINING.search(title)]
    return [change for change in named if CLOSES.search(change.message)]


def interleave(groups: Mapping[str, Sequence[Change]], seed: int = SEED) -> Iterator[Change]:
    """Every change once. The trackers take turns; the order within each tracker depends only on the seed."""
    orders = []
    for name in sorted(groups):
        orders.append(sorted(groups[name], key=lambda change: change.commit))
        Random(f"{seed} {name}").shuffle(orders[-1])
    for turn in zip_longest(*orders):
        yield from (change for change in turn if change)


def main() -> None:
    args = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    args.add_argument("--seed", type=int, default=SEED)
    args.add_argument("--count", type=int, default=200)
    args.add_argument("--releases", action="store_true", help="the second list of queries")
    args.add_argument("--met", action="store_true", help="the third list of queries")
    args.add_argument(
        "--closing",
        action="store_true",
        help="changes that close an issue, instead of those that name a printed failure",
    )
    args.add_argument("--clones", type=Path, help="folder of clones named OWNER+NAME")
    asked = args.parse_args()
    if not asked.clones:
        chosen = met_queries if asked.met else break_queries if asked.releases else queries
        print("\n".join(chosen(asked.count, asked.seed)))
        return
    choose = closing if asked.closing else candidates
    groups = {clone.name: choose(clone) for clone in asked.clones.iterdir() if clone.is_dir()}
    for number, change in zip(range(asked.count), interleave(groups, asked.seed), strict=False):
        print(number, change.day, change.tracker, change.commit[:12], change.message.partition("\n")[0])


if __name__ == "__main__":
    main()
