"""Does LoRA of this peft refuse to adapt a convolution?"""

QUESTION = "Does this peft refuse a LoRA on this kind of convolution?"
NEEDS = ["torch", "peft"]
PARAMETERS = {"layer": ["Conv1d", "Conv3d"]}  # the first is the one that peft learned last
SETTLED_BY = ["layer"]
PAIRS = [
    ("confirmed", {"transformers": "4.45.2", "accelerate": "1.5.2", "peft": "0.11.1"}),
    ("confirmed", {"transformers": "4.45.2", "accelerate": "1.5.2", "peft": "0.11.1"}, {"layer": "Conv3d"}),
    ("not-here", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("not-here", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}, {"layer": "Conv3d"}),
]
REPRODUCE = """
import torch
from peft import LoraConfig, get_peft_model

model = torch.nn.Sequential(torch.nn.{layer}(2, 2, 1))
get_peft_model(model, LoraConfig(target_modules=["0"]))
"""


def run(kit):
    layer = kit.options["layer"]
    kit.expects("ValueError", r"(?s)Target module %s\(.*is not supported" % layer)
    torch, peft = kit.need("torch", "peft")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.q_proj = getattr(torch.nn, layer)(2, 2, 1), torch.nn.Linear(4, 4)

    def adapt(target):
        return peft.get_peft_model(Model(), peft.LoraConfig(r=2, target_modules=[target]))

    if kit.symptom("LoRA on a " + layer, lambda: adapt("conv")):
        kit.fix("linear-only", "name linear layers only", lambda: adapt("q_proj"), words=r"target_modules=\[\"q_proj\"")
