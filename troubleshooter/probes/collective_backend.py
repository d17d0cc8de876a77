"""Does a process group that has a backend for GPUs only refuse a tensor on the processor?

Stands for NCCL with gloo, registered for GPUs only: the refusal is torch's own and comes before any backend is asked.
"""

QUESTION = "Does a collective of a CPU tensor fail here where the process group has a backend for GPUs only?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
LOOPBACK = True
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch, torch.distributed as dist

dist.init_process_group("cuda:gloo", init_method="file:///tmp/backend-demo", rank=0, world_size=1)
dist.all_reduce(torch.ones(2))          # with "cpu:gloo,cuda:nccl" it runs
"""


def run(kit):
    import os

    kit.expects("RuntimeError", r"No backend type associated with device type cpu")
    torch = kit.need("torch")
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_gloo_available():
        kit.undecided("this torch is built without torch.distributed and gloo")

    def reduce(backends, name):
        store = os.path.join(kit.folder, name)
        dist.init_process_group(backends, init_method="file://" + store, rank=0, world_size=1)
        try:
            dist.all_reduce(torch.ones(2))
        finally:
            dist.destroy_process_group()

    if kit.symptom("all_reduce of a CPU tensor, a backend for cuda only", lambda: reduce("cuda:gloo", "one")):
        kit.fix(
            "both-backends",
            "a backend for each kind of device: cpu:gloo,cuda:…",
            lambda: reduce("cpu:gloo,cuda:gloo", "both"),
            words=r"cpu:gloo,cuda:nccl",
        )
