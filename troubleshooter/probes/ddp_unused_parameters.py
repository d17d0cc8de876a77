"""Does DistributedDataParallel stop at a parameter that takes no part in the loss ("finished reduction in the prior iteration")?"""

QUESTION = "Does DistributedDataParallel refuse a model with an unused parameter here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"})]
REPRODUCE = """
import torch, torch.distributed as dist

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    def forward(self, x):
        return self.used(x)

dist.init_process_group("gloo", init_method="file:///tmp/ddp-demo", rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(Model())     # find_unused_parameters=True cures it
for _ in range(2):
    model(torch.randn(2, 4)).sum().backward()
"""


def run(kit):
    import os

    kit.expects("RuntimeError", r"Expected to have finished reduction in the prior iteration")
    torch = kit.need("torch")
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    store = os.path.join(kit.folder, "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.used(x)

    def prepared(**how):
        model = Model()
        if how.pop("freeze", False):
            model.unused.requires_grad_(False)
        wrapped = torch.nn.parallel.DistributedDataParallel(model, **how)
        return lambda: wrapped(torch.randn(2, 4)).sum().backward()

    def twice(**how):
        step = prepared(**how)
        step()
        step()

    if kit.symptom("two steps with an unused layer", twice):
        kit.fix(
            "find-unused",
            "find_unused_parameters=True",
            lambda: twice(find_unused_parameters=True),
            words=r"find_unused_parameters",
            price=(lambda: prepared(freeze=True), lambda: prepared(find_unused_parameters=True)),
        )
        kit.fix(
            "freeze",
            "freeze the parameters that take no part (requires_grad_(False))",
            lambda: twice(freeze=True),
            words=r"requires_grad",
        )
    dist.destroy_process_group()
