"""Healthy TRL runs: SFT, DPO, GRPO, reward modelling and packing, with the values that look like failures and are none."""

from __future__ import annotations

import inspect
import logging
import warnings
from typing import Any

import datasets
import tiny
import transformers
import trl
from recorder import family

log = logging.getLogger("trl.run")
QUESTIONS = ["where does the river run", "who counts the sacks", "what fell on the roofs", "where is the boat"]


def common(kind: Any, **change: Any) -> Any:
    """A short CPU configuration of the given config class."""
    base: dict[str, Any] = {
        "output_dir": "out",
        "per_device_train_batch_size": 4,
        "max_steps": 8,
        "logging_steps": 1,
        "report_to": [],
        "use_cpu": True,
        "save_strategy": "no",
        "learning_rate": 1e-3,
        "bf16": False,
        "gradient_checkpointing": False,
        "max_length": 48,
        "max_seq_length": 48,
        "max_prompt_length": 24,
    }
    return tiny.accepted(kind, **{**base, **change})


def sft_packed() -> None:
    """Supervised fine-tuning on packed text with warm-up: the first learning rate is 0.0."""
    data = datasets.Dataset.from_dict({"text": tiny.LINES * 12})
    trl.SFTTrainer(
        model=tiny.llama(),
        args=common(trl.SFTConfig, packing=True, warmup_steps=3),
        train_dataset=data,
        eval_dataset=data.select(range(10)),
        processing_class=tiny.tokenizer(),
    ).train()


def sft_chat_evaluated() -> None:
    """Chat data with evaluation; an example that cannot be rendered is logged with its traceback and skipped."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    tok = tiny.tokenizer()
    kept = []
    for number, question in enumerate([*QUESTIONS * 5, None]):
        talk: list[dict[str, Any]] = [
            {"role": "user", "content": question},
            {"role": "assistant", "content": tiny.LINES[number % 5]},
        ]
        try:
            talk[0]["content"] = question.strip()  # type: ignore[union-attr]
            tok.apply_chat_template(talk, tokenize=False)
            kept.append({"messages": talk})
        except Exception:
            log.exception("Error in example %d, skipped", number)
    data = datasets.Dataset.from_list(kept)
    trainer = trl.SFTTrainer(
        model=tiny.llama(),
        args=common(trl.SFTConfig, eval_strategy="steps", eval_steps=4),
        train_dataset=data,
        eval_dataset=data,
        processing_class=tok,
    )
    trainer.train()
    log.info("evaluation: %s", trainer.evaluate())


def dpo_reference_free_start() -> None:
    """DPO: at the first step policy and reference agree, so rewards and margins are exactly 0."""
    rows = [{"prompt": q, "chosen": " " + tiny.LINES[i], "rejected": " no idea"} for i, q in enumerate(QUESTIONS)] * 4
    trl.DPOTrainer(
        model=tiny.llama(),
        ref_model=tiny.llama(),
        args=common(trl.DPOConfig, beta=0.1),
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tiny.tokenizer(),
    ).train()


def lengths(completions: list[str], **_: Any) -> list[float]:
    """A reward with variance: how many distinct letters a completion holds."""
    return [float(len(set(text))) for text in completions]


def grpo_zero_loss() -> None:
    """GRPO: the loss prints as 0.0 while gradient norm and reward variance are positive."""
    data = datasets.Dataset.from_dict({"prompt": QUESTIONS * 4})
    base = tiny.llama()
    if "loss_type" in inspect.signature(trl.GRPOConfig.__init__).parameters:  # else unequal lengths shift the loss
        base.lm_head.weight.data[2] *= 30  # so that an untrained model also ends its texts
    base.save_pretrained("base")
    model = transformers.LlamaForCausalLM.from_pretrained("base")
    trl.GRPOTrainer(
        model=model,
        reward_funcs=lengths,
        processing_class=tiny.tokenizer(side="left"),
        args=common(
            trl.GRPOConfig,
            num_generations=4,
            max_completion_length=12,
            beta=0.04,
            loss_type="grpo",
            max_steps=10,
            learning_rate=1e-4,
        ),
        train_dataset=data,
    ).train()


def reward_new_head() -> None:
    """A reward model whose score head is newly initialized."""
    warnings.simplefilter("default")
    tiny.llama().save_pretrained("base")
    model = transformers.AutoModelForSequenceClassification.from_pretrained("base", num_labels=1)
    rows = [
        {"prompt": q, "chosen": q + " " + tiny.LINES[i], "rejected": q + " no"} for i, q in enumerate(QUESTIONS)
    ] * 4
    trl.RewardTrainer(
        model=model,
        args=common(trl.RewardConfig),
        processing_class=tiny.tokenizer(),
        train_dataset=datasets.Dataset.from_list(rows),
    ).train()


CASES = {
    case.__name__: case
    for case in (sft_packed, sft_chat_evaluated, dpo_reference_free_start, grpo_zero_loss, reward_new_head)
}

if __name__ == "__main__":
    family("trl", CASES, env={"HF_HUB_OFFLINE": "1"})
