"""Random models of a few thousand weights, a word tokenizer and a handful of texts: what the programs here train with."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification, PreTrainedTokenizerFast

WORDS = "<unk> <pad> <eos> the cat sat on a mat dog ran in park who why user assistant yes no".split()
TEXTS = ["the cat sat on a mat", "a dog ran in the park", "the dog sat", "a cat ran on the mat"] * 4
CHAT = "{% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}"


def tokenizer(**more):
    base = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    base.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    given = {"unk_token": "<unk>", "pad_token": "<pad>", "eos_token": "<eos>", **more}
    return PreTrainedTokenizerFast(tokenizer_object=base, **given)


def config(**more):
    sizes = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2)
    return LlamaConfig(**{"vocab_size": len(WORDS), "pad_token_id": 1, "eos_token_id": 2, **sizes, **more})


def model(**more):
    return LlamaForCausalLM(config(**more))


def classifier(**more):
    return LlamaForSequenceClassification(config(**more))
