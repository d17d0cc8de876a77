"""Does a tensor that was made under torch.inference_mode stop a later training forward?"""

QUESTION = "Does a buffer made under torch.inference_mode stop the training forward here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch

with torch.inference_mode():            # the reference pass; torch.no_grad() runs
    table = torch.ones(4).cos()         # a table that the model keeps
torch.nn.Linear(4, 4)(torch.ones(4)) * table
"""


def run(kit):
    kit.expects("RuntimeError", r"Inference tensors cannot be saved for backward")
    torch = kit.need("torch")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.table = torch.nn.Linear(64, 64), None

        def forward(self, x):
            if self.table is None:  # as rotary tables and masks are kept
                self.table = torch.arange(64.0, device=x.device).cos()
            return self.layer(x) * self.table

    x = torch.ones(64, 64, device=kit.device)

    def step(mode, clone=False):
        model = Model().to(kit.device)
        with mode():
            model(x)

        def training():
            if clone:
                model.table = model.table.clone()
            model(x).sum().backward()

        return training

    if kit.symptom("a reference pass fills the table, then a training step", lambda: step(torch.inference_mode)()):
        kit.fix(
            "no-grad",
            "torch.no_grad() around the reference pass",
            lambda: step(torch.no_grad)(),
            words=r"with torch\.no_grad\(\)",
            price=(lambda: step(torch.no_grad), lambda: step(torch.no_grad)),
        )
        kit.fix(
            "clone",
            "clone the tensor before the training forward",
            lambda: step(torch.inference_mode, clone=True)(),
            words=r"cached\.clone\(\)",
            price=(lambda: step(torch.no_grad), lambda: step(torch.inference_mode, clone=True)),
        )
