"""Does unpacking a model's output give the names of its fields, which the next layer refuses?"""

QUESTION = "Does `sequence, pooled = bert(ids)` hand strings to the next layer here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import torch
from transformers import BertConfig, BertModel

bert = BertModel(BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64))
sequence, pooled = bert(torch.ones(1, 4, dtype=torch.long))
torch.nn.Dropout()(pooled)              # pooled is the text "pooler_output"
"""


def run(kit):
    kit.expects("TypeError", r"must be Tensor, not str")
    torch, transformers = kit.need("torch", "transformers")
    size = dict(vocab_size=128, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
    bert = transformers.BertModel(transformers.BertConfig(**size)).to(kit.device)
    ids = torch.randint(1, 120, (2, 8), device=kit.device)

    def unpacked(**how):
        _, pooled = bert(input_ids=ids, **how)
        return torch.nn.Dropout()(pooled)

    if kit.symptom("sequence, pooled = bert(ids)", unpacked):
        kit.fix(
            "by-name",
            "read the fields by name",
            lambda: torch.nn.Dropout()(bert(input_ids=ids).pooler_output),
            words=r"out\.pooler_output",
        )
        kit.fix("tuple", "return_dict=False", lambda: unpacked(return_dict=False), words=r"return_dict=False\)\[:2\]")
