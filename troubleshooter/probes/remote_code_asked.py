"""Does a model with code of its own stop without trust_remote_code=True?"""

QUESTION = "Does loading a model that ships its own code need trust_remote_code=True here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers import AutoConfig

AutoConfig.from_pretrained(folder)      # its config.json has an auto_map to a file of that folder
"""
CODE = """from transformers import PretrainedConfig
class OwnConfig(PretrainedConfig):
    model_type = "own"
"""


def run(kit):
    import json
    import os

    kit.expects("ValueError", r"trust_remote_code=True")
    _, transformers = kit.need("torch", "transformers")

    def folder(name, **config):
        place = os.path.join(kit.folder, name)
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "config.json"), "w") as file:
            json.dump(config, file)
        with open(os.path.join(place, "configuration_own.py"), "w") as file:
            file.write(CODE)
        return place

    def load(place, **how):
        return transformers.AutoConfig.from_pretrained(place, **how)

    own = folder("own", model_type="own", auto_map={"AutoConfig": "configuration_own.OwnConfig"})
    if kit.symptom("a config with an auto_map", lambda: load(own)):
        kit.fix(
            "trusted",
            "trust_remote_code=True",
            lambda: load(own, trust_remote_code=True),
            words=r"AutoTokenizer\.from_pretrained\(name, trust_remote_code=True\)",
        )
        kit.fix(
            "native",
            "an architecture of transformers, without auto_map",
            lambda: load(folder("native", model_type="llama")),
            words=r"supports the architecture natively",
        )
