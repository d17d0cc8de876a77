"""Does model code fail on a method or field that the key-value cache of transformers no longer has?"""

QUESTION = "Does the cache of this transformers lack what older model code reads?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {"attribute": ["get_max_length", "seen_tokens", "get_usable_length"]}
SETTLED_BY = ["attribute"]
PAIRS = [
    ("not-here", {"transformers": "4.47.1", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.50.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
    ("not-here", {"transformers": "4.53.3", "accelerate": "1.5.2"}, {"attribute": "seen_tokens"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}, {"attribute": "seen_tokens"}),
]
REPRODUCE = """
from transformers import DynamicCache

print(DynamicCache().{attribute})
"""


def run(kit):
    kit.expects("AttributeError", r"has no attribute '%s'" % kit.options["attribute"])
    kit.need("torch")
    transformers = kit.need("transformers")
    attribute = kit.options["attribute"]
    newer = {"get_max_length": "get_max_cache_shape", "seen_tokens": "get_seq_length"}.get(attribute, "get_seq_length")

    if kit.symptom(f"DynamicCache().{attribute}", lambda: getattr(transformers.DynamicCache(), attribute)):
        kit.fix(
            "newer-name",
            f"call {newer}() instead",
            lambda: getattr(transformers.DynamicCache(), newer)(),
            words=r"get_max_cache_shape\(|get_seq_length\(",
        )
