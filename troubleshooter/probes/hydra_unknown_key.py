"""Does Hydra refuse an override, and a read, of a key that the config does not have?"""

QUESTION = "Does Hydra refuse a key that the config lacks?"
NEEDS = ["hydra-core"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [("confirmed", {"hydra-core": "1.3.2"})]
REPRODUCE = """
with hydra.initialize_config_dir(folder, version_base=None):      # its train.yaml has optim.warmup_steps
    hydra.compose("train", overrides=["optim.warmup=100"])        # with "+optim.warmup=100" it runs
"""


def run(kit):
    import os

    kit.expects(
        ("ConfigCompositionException", "ConfigAttributeError"),
        r"Could not override 'optim\.warmup'|Key 'warmup' is not in ?struct",
    )
    hydra = kit.need("hydra")
    folder = os.path.join(kit.folder, "conf")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "train.yaml"), "w") as file:
        file.write("optim:\n  lr: 0.001\n  warmup_steps: 0\n")

    def composed(*overrides):
        with hydra.initialize_config_dir(folder, version_base=None):
            return hydra.compose("train", overrides=list(overrides))

    if kit.symptom("optim.warmup=100, and no such key", lambda: composed("optim.warmup=100")):
        kit.fix(
            "current-name",
            "optim.warmup_steps=100, the name that the config has",
            lambda: composed("optim.warmup_steps=100").optim.warmup_steps,
            words=r"use its current name",
        )
    if kit.symptom("the program reads optim.warmup", lambda: composed().optim.warmup):
        kit.fix(
            "add",
            "+optim.warmup=100 adds the key",
            lambda: composed("+optim.warmup=100").optim.warmup,
            words=r"add it with a plus sign",
        )
