"""A probe that asks for more memory than a probe may have: its own allocator must refuse, not the job beside it suffer."""

QUESTION = "Does a probe that takes too much memory end by itself?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = []


def run(kit):
    kit.expects("OutOfMemoryError", r"out of memory")
    torch = kit.need("torch")
    kit.symptom("1 GiB of a GPU", lambda: torch.ones(1 << 30, dtype=torch.uint8, device=kit.device))
