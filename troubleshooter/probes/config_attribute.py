"""Does code fail on an attribute that the base configuration of transformers 5 no longer has?"""

QUESTION = "Does the base configuration of this transformers lack the attribute?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {"attribute": ["pad_token_id", "bos_token_id", "eos_token_id", "tie_word_embeddings", "max_length"]}
SETTLED_BY = None
PAIRS = [
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers import PretrainedConfig

class OwnConfig(PretrainedConfig):
    model_type = "own"

print(OwnConfig().{attribute})
"""


def run(kit):
    attribute = kit.options["attribute"]
    kit.expects("AttributeError", r"has no attribute '%s'" % attribute)
    kit.need("torch")
    transformers = kit.need("transformers")

    class OwnConfig(transformers.PretrainedConfig):
        model_type = "own"

    def defined():
        config = OwnConfig()
        setattr(config, attribute, None)
        getattr(config, attribute)

    if kit.symptom(f"a model's own configuration, .{attribute}", lambda: getattr(OwnConfig(), attribute)):
        kit.fix(
            "define", f"config.{attribute} = None before the model is built", defined, words=r"config\.\S+\s*=\s*None"
        )
