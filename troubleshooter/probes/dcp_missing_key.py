"""Does a distributed checkpoint refuse to load into a model that has a parameter more?"""

QUESTION = "Does torch.distributed.checkpoint fail here at a key that the checkpoint does not hold?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch
import torch.distributed.checkpoint as dcp

dcp.save({"weight": torch.ones(4)}, checkpoint_id="saved")
dcp.load({"weight": torch.zeros(4), "lora_A": torch.zeros(4)}, checkpoint_id="saved")
"""


def run(kit):
    import os

    kit.expects(("RuntimeError", "CheckpointException"), r"Missing key in checkpoint state_dict: lora_A")
    torch = kit.need("torch")
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner

    place = os.path.join(kit.folder, "saved")
    dcp.save({"weight": torch.ones(4)}, checkpoint_id=place)

    def load(*names, **how):
        dcp.load({name: torch.zeros(4) for name in names}, checkpoint_id=place, **how)

    def in_part():
        load("weight", "lora_A", planner=DefaultLoadPlanner(allow_partial_load=True))

    if kit.symptom("a run with one parameter more than the checkpoint", lambda: load("weight", "lora_A")):
        kit.fix(
            "same-model",
            "the same parameters as in the saved run",
            lambda: load("weight"),
            words=r"same LoRA, FSDP, torch\.compile",
        )
        kit.fix(
            "partial-load", "DefaultLoadPlanner(allow_partial_load=True)", in_part, words=r"allow_partial_load=True"
        )
