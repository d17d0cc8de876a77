"""Does the collator fail on labels of unlike lengths ("Unable to create tensor, you should probably activate truncation")?"""

QUESTION = "Does a padding collator fail on labels of unlike lengths here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers import DataCollatorWithPadding      # pads inputs only; DataCollatorForSeq2Seq pads labels too
batch = [dict(tokenizer(text), labels=tokenizer(text)["input_ids"]) for text in ("short", "a longer text")]
DataCollatorWithPadding(tokenizer)(batch)
"""


def run(kit):
    kit.expects("ValueError", r"Unable to create tensor, you should probably activate (?:truncation|padding)")
    kit.need("torch")
    transformers = kit.need("transformers")
    tokenizer = kit.tokenizer()

    def batch():
        texts = ("the fox", "the quick brown fox jumps over")
        return [dict(tokenizer(text), labels=tokenizer(text)["input_ids"]) for text in texts]

    if kit.symptom("labels of two lengths", lambda: transformers.DataCollatorWithPadding(tokenizer)(batch())):
        kit.fix(
            "seq2seq-collator",
            "DataCollatorForSeq2Seq(tokenizer), which pads labels with -100",
            lambda: transformers.DataCollatorForSeq2Seq(tokenizer)(batch()),
            words=r"DataCollatorForSeq2Seq|DataCollatorForTokenClassification",
            price=(
                lambda: lambda: transformers.default_data_collator(batch()[:1]),  # one row needs no padding
                lambda: lambda: transformers.DataCollatorForSeq2Seq(tokenizer)(batch()),
            ),
        )
