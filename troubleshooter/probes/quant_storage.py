"""Does FSDP 1 refuse bitsandbytes' 4-bit weights that are stored as uint8?"""

QUESTION = "Does FSDP 1 refuse 4-bit weights stored as uint8 here?"
NEEDS = ["torch", "bitsandbytes"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"bitsandbytes": "0.49.0"})]
REPRODUCE = """
import bitsandbytes, torch, torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

dist.init_process_group("gloo", init_method="file:///tmp/quant-demo", rank=0, world_size=1)
layer = bitsandbytes.nn.Linear4bit(64, 64, bias=False).to("cpu")         # with quant_storage=torch.bfloat16 it runs
FullyShardedDataParallel(layer, device_id=torch.device("cpu"))
"""


def run(kit):
    import os

    kit.expects("ValueError", r"Cannot flatten integer dtype tensors|uniform dtype but got .*torch\.u?int8")
    torch, bitsandbytes = kit.need("torch", "bitsandbytes")
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    from torch.distributed.fsdp import FullyShardedDataParallel

    store = os.path.join(kit.folder, "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)

    def flat(**how):
        layer = bitsandbytes.nn.Linear4bit(64, 64, bias=False, compute_dtype=torch.bfloat16, **how).to("cpu")
        return FullyShardedDataParallel(layer, device_id=torch.device("cpu"), use_orig_params=True)

    if kit.symptom("a 4-bit layer, stored as uint8", flat):
        kit.fix(
            "storage",
            "bnb_4bit_quant_storage=torch.bfloat16",
            lambda: flat(quant_storage=torch.bfloat16),
            words=r"bnb_4bit_quant_type",
        )
    dist.destroy_process_group()
