"""Does batching fail because no padding token is set: in the tokenizer, or in a sequence classifier's config?"""

QUESTION = "Does a missing padding token stop a batch here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {"where": ["tokenizer", "classifier"]}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}, {"where": "classifier"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}, {"where": "classifier"}),
]
REPRODUCE = """
import torch
from transformers import LlamaConfig, LlamaForSequenceClassification

config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
LlamaForSequenceClassification(config)(input_ids=torch.randint(0, 60, (2, 8)))     # config.pad_token_id is None
"""


def run(kit):
    torch = kit.need("torch")
    transformers = kit.need("transformers")
    if kit.options["where"] == "tokenizer":
        kit.expects("ValueError", r"Asking to pad but the tokenizer does not have a padding token")
        tokenizer = kit.tokenizer(pad=False)

        def together():
            return tokenizer(["the fox", "the quick brown fox jumps"], padding=True, return_tensors="pt")

        if kit.symptom("two texts of unlike length", together):

            def padded():
                tokenizer.pad_token = tokenizer.eos_token
                together()

            kit.fix(
                "pad-is-eos",
                "tokenizer.pad_token = tokenizer.eos_token",
                padded,
                words=r"pad_token\s*=",
                price=(lambda: lambda: tokenizer(["the quick brown fox jumps"], return_tensors="pt"), lambda: together),
            )
        return
    kit.expects("ValueError", r"Cannot handle batch sizes > 1 if no padding token is defined")
    size = dict(
        vocab_size=128, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_labels=2
    )

    def classify(pad, rows=2):
        config = transformers.LlamaConfig(pad_token_id=pad, **size)
        model = transformers.LlamaForSequenceClassification(config)
        batch = dict(input_ids=torch.randint(3, 100, (rows, 8)), labels=torch.arange(rows))
        return lambda: model(**batch).loss.backward()

    if kit.symptom("a batch of two through a classifier", lambda: classify(None)()):
        kit.fix(
            "config-pad",
            "model.config.pad_token_id = tokenizer.pad_token_id",
            lambda: classify(0)(),
            words=r"pad_token_id",
            price=(lambda: classify(None, rows=1), lambda: classify(0)),
        )
