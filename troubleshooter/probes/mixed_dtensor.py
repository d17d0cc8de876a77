"""Does a parameter that FSDP2 sharded refuse to meet a plain tensor outside of its module's forward?"""

QUESTION = "Does a product of a plain tensor and an FSDP2 parameter fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch, torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo", init_method="file:///tmp/fsdp-demo", rank=0, world_size=1)
mesh = dist.device_mesh.init_device_mesh("cpu", (1,))
head = fully_shard(torch.nn.Linear(4, 4), mesh=mesh)
torch.randn(2, 4) @ head.weight         # head.weight.full_tensor() or head(x) runs
"""


def run(kit):
    import os

    kit.expects("RuntimeError", r"got mixed torch\.Tensor and DTensor")
    torch = kit.need("torch")
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    try:
        from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
    except ImportError:
        kit.undecided("this torch (%s) has no FSDP2" % torch.__version__)
    store = os.path.join(kit.folder, "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)
    mesh = dist.device_mesh.init_device_mesh("cpu", (1,))

    class Head(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(64, 64))

        def forward(self, x):
            return x @ self.weight

        def score(self, x):
            return x @ self.weight

    x = torch.randn(64, 64)

    def sharded():
        return fully_shard(Head(), mesh=mesh)

    def registered():
        head = sharded()
        register_fsdp_forward_method(head, "score")
        return lambda: head.score(x)

    def gathered():
        head = sharded()
        return lambda: x @ head.weight.full_tensor()

    def plain():
        head = Head()
        return lambda: head(x)

    if kit.symptom("a method other than forward uses the weight", lambda: sharded().score(x)):
        kit.fix(
            "register-method",
            "register_fsdp_forward_method(model, name)",
            lambda: registered()(),
            words=r"register_fsdp_forward_method\(model",
            price=(plain, registered),
        )
        kit.fix(
            "full-tensor",
            "gather the parameter: param.full_tensor()",
            lambda: gathered()(),
            words=r"weight = model\.lm_head\.weight\.full_tensor\(\)",
            price=(plain, gathered),
        )
    dist.destroy_process_group()
