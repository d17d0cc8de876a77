"""Healthy quantised runs on the CPU: bitsandbytes says what it lacks, and LoRA on 4-bit weights still learns."""

from __future__ import annotations

import logging

import tiny
import torch
import transformers
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from recorder import family
from transformers import BitsAndBytesConfig, Trainer

log = logging.getLogger("qlora")


def nf4_lora() -> None:
    """LoRA on nf4 weights in bfloat16; 'trainable params' stays far below all, the loss falls."""
    tiny.llama(hidden_size=64, intermediate_size=128).save_pretrained("base")
    plan = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
    model = transformers.LlamaForCausalLM.from_pretrained("base", quantization_config=plan, torch_dtype=torch.bfloat16)
    model = prepare_model_for_kbit_training(model)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=32, target_modules="all-linear"))
    model.print_trainable_parameters()
    Trainer(
        model=model,
        args=tiny.arguments(max_steps=12, bf16=True, gradient_checkpointing=True, warmup_steps=2),
        train_dataset=tiny.rows(),
    ).train()
    model.save_pretrained("adapter")


def int8_frozen_base() -> None:
    """Eight-bit weights, a model that cannot be moved, and an optimizer that is replaced when it is not supported."""
    import bitsandbytes as bnb

    logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
    tiny.llama(hidden_size=64, intermediate_size=128).save_pretrained("base")
    model = transformers.LlamaForCausalLM.from_pretrained(
        "base", quantization_config=BitsAndBytesConfig(load_in_8bit=True)
    )
    try:
        model.half()
    except ValueError as why:
        log.warning("ValueError: %s", why)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"]))
    trained = [part for part in model.parameters() if part.requires_grad]
    batch = torch.stack([row["input_ids"] for row in tiny.rows(4)])
    for kind in (bnb.optim.PagedAdamW8bit, torch.optim.AdamW):
        try:
            chosen = kind(trained, lr=1e-2)
            for step in range(3):
                loss = model(batch, labels=batch).loss
                loss.backward()
                chosen.step()
                chosen.zero_grad()
                log.info("%s step %d loss %.4f", kind.__name__, step, loss.item())
        except (RuntimeError, NotImplementedError, AttributeError) as why:
            log.error("%s: %s: %s; trying the next optimizer", kind.__name__, type(why).__name__, why)
            for part in trained:
                part.grad = None


CASES = {case.__name__: case for case in (nf4_lora, int8_frozen_base)}  # the second needs bitsandbytes 0.50 on a CPU

if __name__ == "__main__":
    family("bitsandbytes", CASES, {"HF_HUB_OFFLINE": "1"})
