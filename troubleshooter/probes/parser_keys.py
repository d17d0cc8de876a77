"""Does HfArgumentParser refuse a key that none of its dataclasses has?"""

QUESTION = "Does HfArgumentParser stop at an unknown key here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import dataclasses
from transformers import HfArgumentParser

Options = dataclasses.make_dataclass("Options", [("learning_rate", float, 1e-4)])
HfArgumentParser(Options).parse_dict({"learning_rat": 1e-3})
"""


def run(kit):
    import dataclasses

    kit.expects("ValueError", r"Some keys are not used by the HfArgumentParser: \['learning_rat'\]")
    _, transformers = kit.need("torch", "transformers")
    options = dataclasses.make_dataclass("Options", [("learning_rate", float, 1e-4)])

    def parse(key):
        return transformers.HfArgumentParser(options).parse_dict({key: 1e-3})

    if kit.symptom("a misspelt key", lambda: parse("learning_rat")):
        kit.fix(
            "right-key",
            "the key as the dataclass spells it",
            lambda: parse("learning_rate"),
            words=r"correct their names",
        )
