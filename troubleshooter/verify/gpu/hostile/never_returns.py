"""A probe whose kernel does not return: the limit of time must end it."""

QUESTION = "Is a kernel that does not return ended?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = []


def run(kit):
    import time

    torch = kit.need("torch")
    kit.note("started")
    if kit.device == "cuda":
        torch.cuda._sleep(1 << 62)  # cycles
        torch.cuda.synchronize()
    time.sleep(3600)
