"""Does code fail on a tokenizer's method that transformers 5 removed?"""

QUESTION = "Does this transformers lack the tokenizer's old method?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {
    "method": [
        "batch_encode_plus",
        "encode_plus",
        "as_target_tokenizer",
        "additional_special_tokens",
        "build_inputs_with_special_tokens",
    ]
}
SETTLED_BY = ["method"]
PAIRS = [
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}, {"method": "additional_special_tokens"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}, {"method": "additional_special_tokens"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
print(tokenizer.{method})
"""


def run(kit):
    method = kit.options["method"]
    kit.expects("AttributeError", r"has no attribute '?%s" % method)
    kit.need("torch", "transformers")
    tokenizer = kit.tokenizer()
    texts = ["the quick brown fox", "the lazy dog"]
    if kit.symptom(f"tokenizer.{method}", lambda: getattr(tokenizer, method)):
        if method == "additional_special_tokens":
            kit.fix(
                "extra",
                "tokenizer.extra_special_tokens",
                lambda: tokenizer.extra_special_tokens,
                words=r"tokenizer\(texts",
            )
        else:
            kit.fix("call", "tokenizer(texts, …)", lambda: tokenizer(texts, padding=True), words=r"tokenizer\(texts")
