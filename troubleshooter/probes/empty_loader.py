"""Does accelerate fail on a loader that yields no batch, instead of ending?"""

QUESTION = "Does accelerate fail on a loader without a batch here?"
NEEDS = ["torch", "accelerate"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import torch
from accelerate import Accelerator

loader = torch.utils.data.DataLoader(range(3), batch_size=4, drop_last=True)
for batch in Accelerator().prepare(loader):
    pass
"""


def run(kit):
    kit.expects("UnboundLocalError", r"local variable 'current_batch'")
    torch, accelerate = kit.need("torch", "accelerate")
    accelerator = accelerate.Accelerator(cpu=kit.device == "cpu")

    def batches(rows, size, drop_last):
        data = [torch.ones(2) for _ in range(rows)]
        loader = torch.utils.data.DataLoader(data, batch_size=size, drop_last=drop_last)
        return [batch for batch in accelerator.prepare(loader)]

    if kit.symptom("three rows, batches of four, drop_last", lambda: batches(3, 4, True)):
        kit.fix(
            "smaller-batch",
            "a smaller batch, and drop_last off",
            lambda: batches(3, 1, False),
            words=r"dataloader_drop_last = False",
        )
