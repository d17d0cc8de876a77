"""Does from_pretrained without a dtype load a float16 checkpoint in float16 here, so that training runs in half precision?

transformers 4 loaded in float32 unless told otherwise; transformers 5 takes the precision that the checkpoint was saved in.
"""

QUESTION = "In which precision does from_pretrained load a half-precision checkpoint when no dtype is given?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {"saved": ["float16", "bfloat16"]}
SETTLED_BY = []
PAIRS = [
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
LlamaForCausalLM(config).to(torch.{saved}).save_pretrained("tiny")
print(AutoModelForCausalLM.from_pretrained("tiny").dtype)
"""


def run(kit):
    import os

    torch, transformers = kit.need("torch", "transformers")
    place = os.path.join(kit.folder, "tiny")
    saved = kit.options["saved"]
    kit.llama().to(kit.dtype(saved)).save_pretrained(place)

    def load(**how):
        return transformers.LlamaForCausalLM.from_pretrained(place, **how).to(kit.device).train()

    def prepared(**how):
        model = load(**how)
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, fused=True)
        ids = torch.randint(1, 100, (2, 12), generator=torch.Generator().manual_seed(1)).to(kit.device)

        def once():
            loss = model(input_ids=ids, labels=ids).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()

        return once

    kind = str(load().dtype).replace("torch.", "")
    text = f"a {saved} checkpoint loads as {kind} when no dtype is given"
    half = kind == saved
    if half:
        step = prepared()
        losses = [step() for _ in range(12)]
        text += f"; full fine-tuning: loss {losses[0]:.3f} to {losses[-1]:.3f} in 12 steps"
    kit.measured("from_pretrained without dtype", half, text)
    if half:
        full = dict(torch_dtype=torch.float32)
        step = prepared(**full)
        losses = [step() for _ in range(12)]
        kind = str(load(**full).dtype).replace("torch.", "")
        kit.fix(
            "float32",
            "from_pretrained(..., dtype=torch.float32)",
            removed=kind == "float32",
            text=f"loads as {kind}; full fine-tuning: loss {losses[0]:.3f} to {losses[-1]:.3f} in 12 steps",
            words=r"dtype\s*=\s*(?:torch\.)?[\"']?float32|float32",
            price=(prepared, lambda: prepared(**full)),
        )
