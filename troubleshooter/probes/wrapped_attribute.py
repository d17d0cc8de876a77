"""Does an attribute of the model vanish behind DistributedDataParallel?"""

import os

QUESTION = "Does a wrapped model hide its own attributes here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
LOOPBACK = True
DEVICES = ("cpu",)
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
model.config            # 'DistributedDataParallel' object has no attribute 'config'
model.module.config     # the model itself
"""


def run(kit):
    kit.expects("AttributeError", r"'DistributedDataParallel' object has no attribute 'config'")
    torch = kit.need("torch")
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    store = os.path.join(kit.folder, "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)

    class Model(torch.nn.Linear):
        config = {"hidden_size": 4}

    model = torch.nn.parallel.DistributedDataParallel(Model(4, 4))
    if kit.symptom("model.config of a wrapped model", lambda: model.config):
        kit.fix("inner", "model.module.config", lambda: model.module.config, words=r"model\.module|unwrap_model")
    dist.destroy_process_group()
