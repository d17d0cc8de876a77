"""Healthy LoRA runs with PEFT: adapters are trained, saved, loaded for inference, merged and switched."""

from __future__ import annotations

import logging
import warnings

import tiny
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from recorder import family, version_of
from transformers import Trainer

log = logging.getLogger("lora")
TARGETS = ["q_proj", "v_proj"]


def adapter(rank: int = 4, **change: object) -> LoraConfig:
    """A LoRA configuration for the tiny Llama."""
    return LoraConfig(task_type="CAUSAL_LM", r=rank, lora_alpha=8, target_modules=TARGETS, **change)


def trained_base() -> transformers.PreTrainedModel:
    """The base model, saved and loaded as from a hub."""
    tiny.llama().save_pretrained("base")
    return transformers.LlamaForCausalLM.from_pretrained("base")


def lora_checkpointed() -> None:
    """LoRA with gradient checkpointing and input gradients, saved, then loaded for inference (0 trainable)."""
    model = get_peft_model(trained_base(), adapter())
    model.print_trainable_parameters()
    model.enable_input_require_grads()
    Trainer(
        model=model,
        args=tiny.arguments(gradient_checkpointing=True, max_steps=8, warmup_steps=2),
        train_dataset=tiny.rows(),
    ).train()
    model.save_pretrained("adapter")
    loaded = PeftModel.from_pretrained(transformers.LlamaForCausalLM.from_pretrained("base"), "adapter")
    loaded.print_trainable_parameters()
    with torch.no_grad():
        print("logits", loaded(torch.arange(5, 13)[None]).logits.float().abs().mean().item())


def frozen_embeddings_reentrant() -> None:
    """Reentrant checkpointing warns that inputs need no gradient for the frozen first part; training works."""
    from torch.utils.checkpoint import checkpoint

    print("peft", version_of("peft"), "torch", torch.__version__)
    model = get_peft_model(trained_base(), adapter())
    model.train()
    ids = torch.arange(5, 17)[None]
    frozen = model.get_input_embeddings()
    step = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    for number in range(1, 9):
        hidden = checkpoint(frozen, ids, use_reentrant=True)
        loss = model(inputs_embeds=hidden, labels=ids).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        step.step()
        step.zero_grad()
        print(f"step {number} loss {loss.item():.4f} grad_norm {norm.item():.4f}")


def merge_and_switch() -> None:
    """Two adapters on one base; switching, merging and a resized vocabulary print warnings."""
    logging.basicConfig(level=logging.INFO, format="[%(levelname)s|%(name)s] %(message)s")
    warnings.simplefilter("default")
    base = trained_base()
    base.resize_token_embeddings(392)
    model = get_peft_model(base, adapter())
    model.add_adapter("second", adapter(rank=8))
    try:
        model.set_adapter("third")
    except (ValueError, KeyError) as why:
        log.error("Error: %s: %s; falling back to adapter 'second'", type(why).__name__, why)
    model.set_adapter("second")
    Trainer(model=model, args=tiny.arguments(max_steps=5), train_dataset=tiny.rows()).train()
    print(type(model).__name__, "active:", model.active_adapter, "all:", list(model.peft_config))
    merged = model.merge_and_unload()
    log.info("merged: %d parameters, %d trainable", merged.num_parameters(), merged.num_parameters(only_trainable=True))


def dora_bf16() -> None:
    """DoRA on a bfloat16 base with evaluation; the norm of a fresh adapter's gradient starts small."""
    model = get_peft_model(trained_base().to(torch.bfloat16), adapter(use_dora=True, lora_dropout=0.05))
    model.print_trainable_parameters()
    Trainer(
        model=model,
        args=tiny.arguments(bf16=True, max_steps=10, eval_strategy="steps", eval_steps=5),
        train_dataset=tiny.rows(),
        eval_dataset=tiny.rows(8),
    ).train()
    model.save_pretrained("adapter")


CASES = {case.__name__: case for case in (lora_checkpointed, frozen_embeddings_reentrant, merge_and_switch, dora_bf16)}

if __name__ == "__main__":
    family("peft", CASES, env={"HF_HUB_OFFLINE": "1"})
