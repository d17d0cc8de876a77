"""Does loading a tokenizer fail because its saved special tokens are a list and not names with tokens?"""

QUESTION = "Does this transformers fail on a tokenizer whose extra_special_tokens are a list?"
NEEDS = ["transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("not-here", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import json
print(json.load(open("tokenizer_config.json"))["extra_special_tokens"])     # a list? transformers 4 wants {{"name": "<token>"}}
"""


def run(kit):
    import json
    import os

    kit.expects("AttributeError", r"'list' object has no attribute 'keys'")
    transformers = kit.need("transformers")
    folder = os.path.join(kit.folder, "tokenizer")
    kit.tokenizer().save_pretrained(folder)

    def load(key):
        path = os.path.join(folder, "tokenizer_config.json")
        with open(path) as file:
            config = json.load(file)
        for old in ("extra_special_tokens", "additional_special_tokens"):
            config.pop(old, None)
        config[key] = ["<image>", "<audio>"]
        with open(path, "w") as file:
            json.dump(config, file)
        return transformers.PreTrainedTokenizerFast.from_pretrained(folder)

    if kit.symptom("extra_special_tokens: a list", lambda: load("extra_special_tokens")):
        kit.fix(
            "rename",
            "rename it to additional_special_tokens in tokenizer_config.json",
            lambda: load("additional_special_tokens"),
            words=r"rename the list to additional_special_tokens|s/\"extra_special_tokens\"/\"additional",
        )
