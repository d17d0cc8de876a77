"""Does LoRA with gradient checkpointing lose the gradient ("element 0 of tensors does not require grad")?

Reentrant checkpointing passes gradients on only when an input needs one; with a frozen embedding none does.
"""

QUESTION = "Does gradient checkpointing cut the gradient of a LoRA model here?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {"use_reentrant": ["default", "true"]}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.18.1"}),
    ("not-here", {"transformers": "5.0.0", "accelerate": "1.10.1", "peft": "0.18.1"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
]
REPRODUCE = """
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
model = get_peft_model(LlamaForCausalLM(config), LoraConfig(target_modules=["q_proj"], task_type="CAUSAL_LM"))
model.gradient_checkpointing_enable()
model.train()
ids = torch.randint(0, 60, (2, 8))
model(input_ids=ids, labels=ids).loss.backward()
"""


def run(kit):
    kit.expects("RuntimeError", r"does not require grad and does not have a grad_fn")
    torch, peft = kit.need("torch", "peft")
    ids = torch.randint(1, 100, (2, 8), device=kit.device)

    def prepared(checkpointing=True, reentrant=None, input_grads=False):
        config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
        model = peft.get_peft_model(kit.llama(), config)
        if input_grads:
            model.enable_input_require_grads()
        if checkpointing:
            chosen = {} if reentrant is None else {"gradient_checkpointing_kwargs": {"use_reentrant": reentrant}}
            model.gradient_checkpointing_enable(**chosen)
        model.train()

        def once():
            model(input_ids=ids, labels=ids).loss.backward()

        return once

    asked = None if kit.options["use_reentrant"] == "default" else True
    if not kit.symptom("LoRA with gradient checkpointing", lambda: prepared(reentrant=asked)()):
        return
    kit.fix(
        "input-grads",
        "model.enable_input_require_grads() before training",
        lambda: prepared(reentrant=asked, input_grads=True)(),
        words=r"enable_input_require_grads",
        price=(lambda: prepared(checkpointing=False), lambda: prepared(reentrant=asked, input_grads=True)),
    )
    kit.fix(
        "not-reentrant",
        'gradient_checkpointing_kwargs={"use_reentrant": False}',
        lambda: prepared(reentrant=False)(),
        words=r"use_reentrant[\"']?\s*[:=]\s*[Ff]alse",
        price=(lambda: prepared(checkpointing=False), lambda: prepared(reentrant=False)),
    )
