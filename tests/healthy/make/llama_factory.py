"""Healthy LLaMA-Factory runs from its command line: supervised LoRA with evaluation, and preference tuning."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import tiny
from recorder import families


def prepare(rows: list[dict[str, Any]], **described: Any) -> None:
    """A model, its tokenizer and a data set in the folders that the configuration names."""
    tiny.llama(max_position_embeddings=512).save_pretrained("base")
    tiny.tokenizer(length=512).save_pretrained("base")
    Path("data").mkdir()
    Path("data/rows.json").write_text(json.dumps(rows), encoding="utf-8")
    Path("data/dataset_info.json").write_text(
        json.dumps({"rows": {"file_name": "rows.json", **described}}), encoding="utf-8"
    )


def train(**change: Any) -> None:
    """Write the configuration and call the command line as a user does."""
    plan = dict(
        model_name_or_path="base",
        do_train=True,
        finetuning_type="lora",
        lora_target="all",
        lora_rank=4,
        dataset="rows",
        dataset_dir="data",
        template="default",
        cutoff_len=128,
        output_dir="out",
        max_steps=10,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        learning_rate=5e-3,
        logging_steps=1,
        warmup_ratio=0.2,
        lr_scheduler_type="cosine",
        report_to="none",
        use_cpu=True,
        overwrite_cache=True,
        preprocessing_num_workers=2,
        bf16=True,
        **change,
    )
    Path("plan.json").write_text(json.dumps(plan), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "llamafactory.cli", "train", "plan.json"], check=True)


def sft_lora() -> None:
    """Supervised fine-tuning with a validation split; an empty answer in the data is dropped with a warning."""
    rows = [
        {"instruction": line, "input": "", "output": tiny.LINES[(i + 1) % 5]} for i, line in enumerate(tiny.LINES * 8)
    ]
    prepare([*rows, {"instruction": "", "input": "", "output": ""}])
    train(stage="sft", val_size=0.2, eval_strategy="steps", eval_steps=5, per_device_eval_batch_size=2)


def pretraining_full() -> None:
    """Continued pre-training of all weights on packed text."""
    prepare([{"text": line} for line in tiny.LINES * 20], columns={"prompt": "text"})
    train(stage="pt", plot_loss=True)


GROUPS = {"llamafactory": {"sft_lora": sft_lora, "pretraining_full": pretraining_full}}

if __name__ == "__main__":
    families(GROUPS, {"HF_HUB_OFFLINE": "1", "DISABLE_VERSION_CHECK": "1"})
