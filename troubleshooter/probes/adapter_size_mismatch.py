"""Does an adapter trained after a resize load onto a base that was not resized ("size mismatch for ... embed_tokens")?"""

QUESTION = "Does an adapter with resized embeddings load onto a base of the old size?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {}
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
]
REPRODUCE = """
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
model = LlamaForCausalLM(config)
model.resize_token_embeddings(72)
lora = LoraConfig(target_modules=["q_proj"], modules_to_save=["embed_tokens", "lm_head"], task_type="CAUSAL_LM")
get_peft_model(model, lora).save_pretrained("adapter")
config.vocab_size = 64
PeftModel.from_pretrained(LlamaForCausalLM(config), "adapter")
"""


def run(kit):
    import os

    kit.expects("RuntimeError", r"size mismatch for .*(?:embed_tokens|lm_head)")
    kit.need("torch")
    peft = kit.need("peft")
    place = os.path.join(kit.folder, "adapter")
    model = kit.llama(vocab_size=120)
    model.resize_token_embeddings(128)
    config = peft.LoraConfig(
        r=4, target_modules=["q_proj"], modules_to_save=["embed_tokens", "lm_head"], task_type="CAUSAL_LM"
    )
    peft.get_peft_model(model, config).save_pretrained(place)

    def onto(resized):
        base = kit.llama(vocab_size=120)
        if resized:
            base.resize_token_embeddings(128)
        peft.PeftModel.from_pretrained(base, place)

    if kit.symptom("adapter of 128 rows onto a base of 120", lambda: onto(False)):
        kit.fix(
            "resize-first",
            "resize the base's embeddings before PeftModel.from_pretrained",
            lambda: onto(True),
            words=r"resize_token_embeddings",
        )
