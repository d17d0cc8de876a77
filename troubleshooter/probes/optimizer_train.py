"""Does accelerate forward ``optimizer.train()`` to an optimizer that has no such method?"""

QUESTION = "Does optimizer.train() of a prepared optimizer fail here?"
NEEDS = ["torch", "accelerate"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"accelerate": "0.33.0"}),
    ("not-here", {"accelerate": "1.2.1"}),
    ("not-here", {"accelerate": "1.15.0"}),
]
REPRODUCE = """
import torch
from accelerate import Accelerator

layer = torch.nn.Linear(2, 2)
Accelerator(cpu=True).prepare(torch.optim.AdamW(layer.parameters())).train()
"""


def run(kit):
    kit.expects("AttributeError", r"object has no attribute 'train'")
    torch, accelerate = kit.need("torch", "accelerate")

    def prepared():
        optimizer = torch.optim.AdamW(torch.nn.Linear(2, 2).to(kit.device).parameters())
        return accelerate.Accelerator(cpu=kit.device == "cpu").prepare(optimizer)

    kit.symptom("prepare(optimizer).train(), as transformers 4.45 calls it", lambda: prepared().train())
