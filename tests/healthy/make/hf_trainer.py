"""Healthy runs of the transformers Trainer: warnings, undefined metrics and recovered errors, all ending well."""

from __future__ import annotations

import logging
import math
import sys
from typing import Any

import numpy as np
import tiny
import torch
import transformers
from recorder import family
from transformers import Trainer

log = logging.getLogger("train")


def start() -> None:
    """Log like the example scripts: time, level, logger."""
    logging.basicConfig(
        format="%(asctime)s - %(levelname)s - %(name)s - %(message)s",
        datefmt="%m/%d/%Y %H:%M:%S",
        level=logging.INFO,
        handlers=[logging.StreamHandler(sys.stdout)],
    )
    transformers.utils.logging.set_verbosity_info()
    log.warning("Process rank: 0, device: cpu, n_gpu: 0, distributed training: False, 16-bits training: False")


def warmup_perplexity() -> None:
    """Warm-up from learning rate 0 and a perplexity."""
    start()
    trainer = Trainer(
        model=tiny.llama(),
        args=tiny.arguments(warmup_steps=4, max_steps=14, eval_strategy="steps", eval_steps=7),
        train_dataset=tiny.rows(),
        eval_dataset=tiny.rows(8),
    )
    trainer.train()
    metrics = trainer.evaluate()
    metrics["perplexity"] = math.exp(metrics["eval_loss"])
    trainer.log_metrics("eval", metrics)
    trainer.save_model("out/final")


def undefined_metric(prediction: Any) -> dict[str, float]:
    """Metrics of a constant prediction: some of them have no value."""
    from scipy.stats import pearsonr
    from sklearn.metrics import matthews_corrcoef, precision_score

    guess = prediction.predictions.argmax(-1)
    truth = prediction.label_ids
    with np.errstate(divide="ignore"):
        return {
            "pearson": float(pearsonr(guess * 0 + 1, truth)[0]),
            "mcc": float(matthews_corrcoef(truth, guess * 0)),
            "precision": float(precision_score(truth, guess * 0, average="macro")),
            "accuracy": float((guess == truth).mean()),
        }


def classifier_new_head() -> None:
    """A classifier on an encoder saved without pooler and head; optional metrics come out as nan."""
    from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

    torch.manual_seed(1)
    shape = BertConfig(vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
    BertForMaskedLM(shape).save_pretrained("encoder")
    model = BertForSequenceClassification.from_pretrained("encoder", num_labels=2)
    data = [{"input_ids": torch.arange(5, 17) + i, "labels": i % 2} for i in range(24)]
    trainer = Trainer(
        model=model,
        args=tiny.arguments(num_train_epochs=2, max_steps=-1, eval_strategy="epoch", logging_steps=3),
        train_dataset=data,
        eval_dataset=data[:10],
        compute_metrics=undefined_metric,
    )
    trainer.train()
    print(trainer.evaluate())


def resumed_after_interruption() -> None:
    """Train, stop at step 6, go on from the checkpoint; tied weights are reported as missing keys."""
    start()
    model = tiny.llama(tie_word_embeddings=True)
    Trainer(
        model=model, args=tiny.arguments(max_steps=6, save_strategy="steps", save_steps=3), train_dataset=tiny.rows()
    ).train()
    log.info("resuming from out/checkpoint-6 (the last job ended there on purpose)")
    Trainer(
        model=tiny.llama(tie_word_embeddings=True),
        args=tiny.arguments(max_steps=10, save_strategy="steps", save_steps=10),
        train_dataset=tiny.rows(),
    ).train(resume_from_checkpoint="out/checkpoint-6")


def long_text_workers() -> None:
    """A text longer than the model's length is chunked; data workers fork after the tokenizer was used."""
    start()
    tok = tiny.tokenizer(length=64)
    ids = tok(" ".join(tiny.LINES * 20))["input_ids"]
    chunks = [ids[i : i + 32] for i in range(0, len(ids) - 32, 32)]
    tok(tiny.LINES * 8)
    log.info("%d tokens cut into %d chunks of 32", len(ids), len(chunks))
    data = [{"input_ids": torch.tensor(c), "labels": torch.tensor(c)} for c in chunks]

    def collate(batch: list[dict[str, Any]]) -> dict[str, Any]:
        tok(tiny.LINES)
        return {key: torch.stack([row[key] for row in batch]) for key in ("input_ids", "labels")}

    Trainer(
        model=tiny.llama(),
        args=tiny.arguments(dataloader_num_workers=2, max_steps=6),
        train_dataset=data,
        data_collator=collate,
    ).train()


def checkpointing_and_samples() -> None:
    """Gradient checkpointing with the cache on, then sampling; a sample callback fails once and is retried."""
    start()
    tok = tiny.tokenizer()
    model = tiny.llama()
    model.config.use_cache = True
    Trainer(
        model=model, args=tiny.arguments(gradient_checkpointing=True, max_steps=6), train_dataset=tiny.rows()
    ).train()
    model.gradient_checkpointing_disable()
    prompt = tok("the river", return_tensors="pt")["input_ids"]
    settings: list[dict[str, Any]] = [
        {"max_length": 1, "min_length": 4, "num_beams": 2, "num_return_sequences": 3},
        {"max_new_tokens": 6, "do_sample": False, "temperature": 0.3},
    ]
    for attempt, extra in enumerate(settings):
        try:
            print("sample:", tok.decode(model.generate(prompt, **extra)[0]))
            break
        except ValueError:
            log.exception("Error while sampling (attempt %d), retrying with other settings", attempt + 1)
    log.info("done, %d parameters", model.num_parameters())


CASES = {
    case.__name__: case
    for case in (
        warmup_perplexity,
        classifier_new_head,
        resumed_after_interruption,
        long_text_workers,
        checkpointing_and_samples,
    )
}

if __name__ == "__main__":
    family("transformers", CASES, env={"HF_HUB_OFFLINE": "1"})
