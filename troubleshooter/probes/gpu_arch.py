"""Does this build of torch hold code for the GPU ("no kernel image is available", "sm_120 is not compatible")?

The build's architectures are compared with the card's capability; where a GPU may be used, one small kernel runs on it.
"""

QUESTION = "Does the installed torch hold code for this machine's GPU?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cuda"]
SETTLED_BY = []
PAIRS = []
REPRODUCE = """
import torch
print(torch.cuda.get_device_capability(), torch.cuda.get_arch_list())
print((torch.ones(8, device="cuda") * 2).sum().item())
"""


def run(kit):
    import os

    from _gpu import host_facts, in_wheel

    kit.expects("RuntimeError", r"no kernel image is available|not compatible with the current PyTorch installation")
    torch = kit.need("torch")
    facts = host_facts(torch.cuda, os.environ, kit.nvidia)
    everyone = facts["driver"] or facts["devices"]
    if not everyone:
        kit.undecided("no GPU answers on this machine")
    if not facts["wheel"]:
        kit.undecided(f"this torch ({torch.__version__}) is built without GPU code at all; is it the run's?")
    for one in everyone:
        if one["capability"] is None:
            continue
        missing = not in_wheel(one["capability"], facts["wheel"])
        has = "holds no code" if missing else "holds code"
        shown = "sm_%d%d" % tuple(one["capability"])
        text = f"torch {torch.__version__} {has} for {one['name']} ({shown}); it has {' '.join(facts['wheel'])}"
        kit.measured(f"GPU {one['index']}", missing, text)
    if kit.device == "cuda":
        kit.symptom("one small kernel", lambda: (torch.ones(8, device="cuda") * 2).sum().item())
