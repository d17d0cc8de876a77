"""Repeat the third draw, of reports with a traceback: ``python -m benchmarks.reports.draw_traced [--threads]``.

Prints the strings for the search of stored files or, with ``--threads``, the queries for the search of threads, each in the
order in which they are sent. `README.md` says what is taken of the results. The lists were written down before the first
of them was sent.
"""

from __future__ import annotations

import argparse
from random import Random

SEED = 20261129
FILES = (
    "train.py", "finetune.py", "trainer.py", "sft.py", "train_grpo.py", "train_lora.py", "run_clm.py", "evaluate.py",
    "preprocess.py", "prepare_data.py", "sft_trainer.py", "main.py", "dataset.py", "data.py", "collator.py", "model.py",
    "modeling_llama.py", "data_collator.py", "arrow_dataset.py", "functional.py", "peft_model.py", "utils.py",
)  # fmt: skip
"""Names that files of training programs and of their libraries have: a traceback shows one of them with any line."""
LINES = range(20, 400)
FUNCTIONS = (
    "training_step", "compute_loss", "evaluation_loop", "save_checkpoint", "load_state_dict", "_prepare_dataset",
    "tokenize_function", "preprocess_function", "_map_single", "collate_fn", "get_peft_model", "train_epoch", "train_one_epoch",
    "compute_metrics", "cross_entropy", "embedding", "finetune", "run_sft", "load_dataset", "load_checkpoint", "prepare_data",
    "parse_args_into_dataclasses", "validation_step", "default_collate", "apply_chat_template", "create_optimizer",
)  # fmt: skip
"""Functions that run in a training: the second list, because lines by chance led to few training programs (`strings`)."""
LATER = ("train_model", "run_training", "build_model", "main_worker", "calculate_loss")
"""Sent after those, because they gave too few reports without a diagnosis."""
AGAIN = (
    "get_dataset", "build_dataset", "build_dataloader", "load_model", "get_batch", "train_loop", "fit", "evaluate", "validate",
    "run_epoch", "forward_step", "get_train_dataloader", "setup_model", "finetune_model", "train_step", "load_data", "encode",
    "process_data", "create_model", "compute_metric", "data_collator", "save_model", "resume", "do_train",
)  # fmt: skip
"""A draw after the rules had been made from the first one (`silent4.jsonl`), with its own seed."""
PROJECTS = (
    "transformers Trainer", "trl SFTTrainer", "trl GRPOTrainer", "peft LoRA", "accelerate", "datasets map", "deepspeed", "unsloth",
    "LLaMA-Factory", "axolotl", "ms-swift", "lightning", "FSDP", "LLaVA", "sentence-transformers", "diffusers", "verl", "OpenRLHF",
    "whisper fine-tuning", "qlora",
)  # fmt: skip
ERRORS = (
    "ValueError", "TypeError", "RuntimeError", "KeyError", "AttributeError", "AssertionError", "IndexError", "ImportError",
    "NotImplementedError", "FileNotFoundError",
)  # fmt: skip
WORDS = (
    "column", "mask", "image", "label", "resume", "vocab", "shape", "config", "split", "optimizer", "weights", "metric", "cache",
    "prompt", "length", "rank", "adapter", "audio", "loss", "path",
)  # fmt: skip


def strings(count: int) -> list[str]:
    """The first `count` different strings: what Python prints of a frame, with a line by chance."""
    choose, found = Random(SEED), dict[str, None]()
    while len(found) < count:
        found.setdefault(f'{choose.choice(FILES)}", line {choose.choice(LINES)}, in')
    return list(found)


def frames() -> list[str]:
    """The second list, what Python prints of a frame in each function, in the order in which they are sent."""
    return [f", in {name}" for name in (*Random(SEED).sample(FUNCTIONS, len(FUNCTIONS)), *LATER)]


def again() -> list[str]:
    """The strings of the draw after the rules, in the order in which they are sent."""
    return [f", in {name}" for name in Random(SEED + 1).sample(AGAIN, len(AGAIN))]


def queries(count: int) -> list[str]:
    """The first `count` different queries."""
    choose, found = Random(SEED), dict[str, None]()
    while len(found) < count:
        words = (choose.choice(PROJECTS), choose.choice(ERRORS), choose.choice(WORDS))
        found.setdefault(f"{words[0]} train Traceback (most recent call last) File line in {words[1]} {words[2]}")
    return list(found)


def main() -> None:
    args = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    args.add_argument("--count", type=int, default=30)
    args.add_argument("--functions", action="store_true", help="the second list of strings")
    args.add_argument("--again", action="store_true", help="the strings of the draw after the rules")
    args.add_argument("--threads", action="store_true", help="the queries for threads, not the strings for files")
    asked = args.parse_args()
    if asked.functions or asked.again:
        print("\n".join(again() if asked.again else frames()))
        return
    print("\n".join(queries(asked.count) if asked.threads else strings(asked.count)))


if __name__ == "__main__":
    main()
