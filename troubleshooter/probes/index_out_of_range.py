"""Does a token id beyond the embedding's rows stop the forward (on a GPU: a device-side assert)?"""

QUESTION = "Does a token beyond the embedding table stop the model here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
DEVICES = ["cpu"]  # on a GPU the same mistake kills the whole process's context
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
model = LlamaForCausalLM(config)
model(input_ids=torch.tensor([[1, 2, 65]]))     # IndexError; after model.resize_token_embeddings(66) it runs
"""


def run(kit):
    kit.expects("IndexError", r"index out of range in self")
    torch = kit.need("torch")
    kit.need("transformers")
    tokenizer = kit.tokenizer()
    before = len(tokenizer)
    tokenizer.add_tokens(["<first>", "<second>"])

    def forward(resized):
        model = kit.llama(vocab_size=before)
        if resized:
            model.resize_token_embeddings(len(tokenizer))
        ids = tokenizer("the fox <second>", return_tensors="pt")["input_ids"]
        with torch.no_grad():
            model(input_ids=ids)

    def step(resized):
        model = kit.llama(vocab_size=before)
        if resized:
            model.resize_token_embeddings(len(tokenizer))
        ids = tokenizer("the fox", return_tensors="pt")["input_ids"]
        return kit.training_step(model, input_ids=ids, labels=ids)

    if kit.symptom(f"{len(tokenizer)} tokens, {before} embedding rows", lambda: forward(False)):
        kit.fix(
            "resize",
            "model.resize_token_embeddings(len(tokenizer))",
            lambda: forward(True),
            words=r"resize_token_embeddings",
            price=(lambda: step(False), lambda: step(True)),
        )
