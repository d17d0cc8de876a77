"""Does a fast tokenizer whose unk_token is empty ask for it without end?"""

QUESTION = "Does a fast tokenizer with an empty unk_token recurse without end here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), unk_token="")
tokenizer.convert_tokens_to_ids("a token that it does not know")
"""


def run(kit):
    kit.expects("RecursionError", r"maximum recursion depth exceeded")
    kit.need("torch", "transformers")
    tokenizer = kit.tokenizer()
    kind, inner = type(tokenizer), tokenizer.backend_tokenizer

    def unknown(unk_token):
        return kind(tokenizer_object=inner, unk_token=unk_token).convert_tokens_to_ids("a token that it does not know")

    if kit.symptom('unk_token=""', lambda: unknown("")):
        kit.fix("named", 'unk_token="<unk>"', lambda: unknown("<unk>"), words=r'"unk_token": "<unk>"')
