"""Does this transformers' Trainer call accelerate with an argument that this accelerate does not know?"""

QUESTION = "Does the Trainer pass keep_torch_compile to an accelerate that does not take it?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.2.1"}),
    ("confirmed", {"transformers": "4.53.3", "accelerate": "1.2.1"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.3.0"}),
    ("not-here", {"transformers": "4.51.3", "accelerate": "1.2.1"}),
]
REPRODUCE = """
from accelerate import Accelerator
import torch
Accelerator(cpu=True).unwrap_model(torch.nn.Linear(2, 2), keep_torch_compile=False)   # what transformers 4.52 and newer calls
"""


def run(kit):
    kit.expects("TypeError", r"unwrap_model\(\) got an unexpected keyword argument 'keep_torch_compile'")
    kit.need("torch")
    transformers = kit.need("transformers")

    def train():
        arguments = kit.training_arguments(max_steps=1)
        transformers.Trainer(model=kit.llama(), args=arguments, train_dataset=kit.rows(2)).train()

    kit.say("one step of the Trainer")
    kit.symptom("one training step", train)
