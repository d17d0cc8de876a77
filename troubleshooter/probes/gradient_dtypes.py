"""Does FSDP2 stop at a parameter that missed a micro-batch ("expects uniform gradient dtype")?"""

QUESTION = "Does FSDP2 with two precisions refuse a branch that only the last micro-batch used here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
model = fully_shard(Model(), mp_policy=policy)          # forward(x, both): uses self.other only where both is true
model.set_requires_gradient_sync(False)
model(x, both=False).sum().backward()
model.set_requires_gradient_sync(True)
model(x, both=True).sum().backward()
"""


def run(kit):
    import os

    kit.expects("AssertionError", r"FSDP reduce-scatter expects uniform gradient dtype")
    torch = kit.need("torch")
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")
    try:
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    except ImportError:
        kit.undecided("this torch (%s) has no FSDP2" % torch.__version__)
    store = os.path.join(kit.folder, "store")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)
    mesh = dist.device_mesh.init_device_mesh("cpu", (1,))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.other = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)

        def forward(self, x, share):
            return self.one(x) if share is None else self.one(x) + share * self.other(x)

    def prepared(reduce, first):
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=reduce)
        model = fully_shard(Model(), mesh=mesh, mp_policy=policy)

        def step():
            for share, sync in ((first, False), (1.0, True)):
                model.set_requires_gradient_sync(sync)
                model(torch.ones(8, 64), share).sum().backward()
            model.zero_grad()

        return step

    def all_used():
        return prepared(torch.float32, 1.0)

    def one_dtype():
        return prepared(torch.bfloat16, None)

    def dummy():
        return prepared(torch.float32, 0.0)

    if kit.symptom("a layer that only the last micro-batch used", lambda: prepared(torch.float32, None)()):
        kit.fix(
            "one-dtype",
            "one dtype for parameters and reduction",
            lambda: one_dtype()(),
            words=r"reduce_dtype=torch\.bfloat16",
            price=(all_used, one_dtype),
        )
        kit.fix(
            "dummy", "use it in each micro-batch, times 0", lambda: dummy()(), words=r"0\.0 \*", price=(all_used, dummy)
        )
    dist.destroy_process_group()
