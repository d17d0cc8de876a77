"""Does DDP stop at reentrant checkpointing together with find_unused_parameters ("marked as ready twice")?"""

QUESTION = "Does DistributedDataParallel with find_unused_parameters refuse reentrant checkpointing here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch, torch.distributed as dist
from torch.utils.checkpoint import checkpoint

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, x):
        return checkpoint(self.layer, x, use_reentrant=True)

dist.init_process_group("gloo", init_method="file:///tmp/twice-demo", rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(Model(), find_unused_parameters=True)
model(torch.randn(2, 4, requires_grad=True)).sum().backward()
"""


def run(kit):
    import os

    kit.expects("RuntimeError", r"Expected to mark a variable ready only once|has been marked as ready twice")
    torch = kit.need("torch")
    import torch.distributed as dist
    from torch.utils.checkpoint import checkpoint

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    store = os.path.join(kit.folder, "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)

    class Model(torch.nn.Module):
        def __init__(self, reentrant):
            super().__init__()
            self.layer, self.reentrant = torch.nn.Linear(64, 64), reentrant

        def forward(self, x):
            return self.layer(x) if self.reentrant is None else checkpoint(self.layer, x, use_reentrant=self.reentrant)

    def prepared(reentrant, **how):
        model = torch.nn.parallel.DistributedDataParallel(Model(reentrant), **how)
        return lambda: model(torch.randn(64, 64, requires_grad=True)).sum().backward()

    def plain():
        return prepared(None)

    def not_reentrant():
        return prepared(False, find_unused_parameters=True)

    def all_used():
        return prepared(True, find_unused_parameters=False)

    def static():
        return prepared(True, find_unused_parameters=True, static_graph=True)

    if kit.symptom("one step", lambda: prepared(True, find_unused_parameters=True)()):
        kit.fix(
            "not-reentrant",
            'gradient_checkpointing_kwargs={"use_reentrant": False}',
            lambda: not_reentrant()(),
            words=r"use_reentrant[\"']?\s*[:=]\s*False",
            price=(plain, not_reentrant),
        )
        kit.fix(
            "all-used",
            "ddp_find_unused_parameters=False",
            lambda: all_used()(),
            words=r"ddp_find_unused_parameters=False",
            price=(plain, all_used),
        )
        kit.fix("static-graph", "static_graph=True", lambda: static()(), words=r"static_graph", price=(plain, static))
    dist.destroy_process_group()
