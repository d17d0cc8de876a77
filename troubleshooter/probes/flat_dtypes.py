"""Does FSDP 1 refuse a module whose parameters have several dtypes?"""

QUESTION = "Does FSDP 1 refuse a bf16 base with a float32 adapter here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch, torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

dist.init_process_group("gloo", init_method="file:///tmp/flat-demo", rank=0, world_size=1)
model = torch.nn.Sequential(torch.nn.Linear(4, 4).bfloat16(), torch.nn.Linear(4, 4))
FullyShardedDataParallel(model, device_id=torch.device("cpu"))
"""


def run(kit):
    import os

    kit.expects("ValueError", r"[Mm]ust flatten tensors with (?:uniform|the same) dtype but got")
    torch = kit.need("torch")
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

    store = os.path.join(kit.folder, "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)

    class Adapted(torch.nn.Module):
        def __init__(self, base, adapter):
            super().__init__()
            self.base = torch.nn.Linear(64, 64).to(base).requires_grad_(False)
            self.adapter = torch.nn.Linear(64, 64).to(adapter)

        def forward(self, x):
            return (
                self.base(x.to(self.base.weight.dtype)).float() + self.adapter(x.to(self.adapter.weight.dtype)).float()
            )

    def flat(base, adapter):
        model = FullyShardedDataParallel(Adapted(base, adapter), device_id=torch.device("cpu"), use_orig_params=True)
        return lambda: model(torch.ones(64, 64)).sum().backward()

    def second():
        model = fully_shard(Adapted(torch.bfloat16, torch.float32), mesh=dist.device_mesh.init_device_mesh("cpu", (1,)))
        return lambda: model(torch.ones(64, 64)).sum().backward()

    def full():
        return flat(torch.float32, torch.float32)

    def half():
        return flat(torch.bfloat16, torch.bfloat16)

    if kit.symptom("a bf16 base, a float32 adapter", lambda: flat(torch.bfloat16, torch.float32)()):
        kit.fix(
            "one-dtype", "all parameters in bf16", lambda: half()(), words=r"p\.data = p\.data\.to", price=(full, half)
        )
        kit.fix("float32", "all in float32", lambda: full()(), words=r"torch_dtype=torch\.float32", price=(half, full))
        kit.fix("fsdp2", "FSDP 2", lambda: second()(), words=r"fsdp_version: 2", price=(half, second))
    dist.destroy_process_group()
