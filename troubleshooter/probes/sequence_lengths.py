"""Does a batch fail because its rows have different lengths ("expected sequence of length")?"""

QUESTION = "Does the default collator fail on rows of different lengths here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers import default_data_collator
default_data_collator([{{"input_ids": [1, 2, 3]}}, {{"input_ids": [1, 2]}}])
"""


def run(kit):
    kit.expects("ValueError", r"expected sequence of length \d+ at dim \d+ \(got \d+\)")
    kit.need("torch")
    transformers = kit.need("transformers")
    tokenizer = kit.tokenizer()

    def rows():
        made = [dict(tokenizer(text)) for text in ("the quick brown fox jumps", "the fox")]
        return [dict(row, labels=list(row["input_ids"])) for row in made]

    if kit.symptom("two texts of different lengths", lambda: transformers.default_data_collator(rows())):
        kit.fix(
            "pad",
            "DataCollatorForSeq2Seq(tokenizer, padding=True)",
            lambda: transformers.DataCollatorForSeq2Seq(tokenizer, padding=True, label_pad_token_id=-100)(rows()),
            words=r"DataCollatorForSeq2Seq",
            price=(
                lambda: lambda: transformers.default_data_collator(rows()[:1]),  # one row needs no padding
                lambda: lambda: transformers.DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=-100)(rows()),
            ),
        )
        kit.fix(
            "one-length",
            'tokenizer(text, padding="max_length", truncation=True, max_length=8)',
            lambda: transformers.default_data_collator(
                [
                    dict(tokenizer(t, padding="max_length", truncation=True, max_length=8))
                    for t in ("the quick brown fox", "the fox")
                ]
            ),
            words=r"padding=\"max_length\"",
        )
