"""Does a saved adapter refuse to load onto this model ("size mismatch for ... embed_tokens", "... lora_A")?

Four ways to the same words: tokens were added before training, the embedding was cut to the tokenizer's length, the rank
differs, or the base is another model.
"""

QUESTION = "Does a saved adapter refuse to load onto a model of other sizes here?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {
    "case": ["added-tokens", "cut-tokens", "rank", "other-base"],
    # Rows of the embedding, or ranks, of the saved adapter and of the model that it is to go onto; 0: the usual ones.
    "saved": {"least": 0, "most": 300000, "default": 0},
    "model": {"least": 0, "most": 300000, "default": 0},
}
SETTLED_BY = ["saved", "model"]
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}, {"case": "cut-tokens"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}, {"case": "cut-tokens"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}, {"case": "rank"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}, {"case": "rank"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}, {"case": "other-base"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}, {"case": "other-base"}),
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

    kit.expects("RuntimeError", r"size mismatch for .*(?:embed_tokens|lm_head|lora_[AB])")
    kit.need("torch")
    peft = kit.need("peft")
    place = os.path.join(kit.folder, "adapter")
    case = kit.options["case"]

    def lora(rank=4):
        kept = ["embed_tokens", "lm_head"] if case.endswith("tokens") else None
        return peft.LoraConfig(r=rank, target_modules=["q_proj"], modules_to_save=kept, task_type="CAUSAL_LM")

    def save(model, rank=4):
        peft.get_peft_model(model, lora(rank)).save_pretrained(place)

    if case.endswith("tokens"):
        rows, base_rows = (128, 120) if case == "added-tokens" else (120, 128)
        rows, base_rows = kit.options["saved"] or rows, kit.options["model"] or base_rows
        model = kit.llama(vocab_size=base_rows)
        model.resize_token_embeddings(rows)
        save(model)

        def onto(resized):
            base = kit.llama(vocab_size=base_rows)
            if resized:
                base.resize_token_embeddings(rows)
            peft.PeftModel.from_pretrained(base, place)

        if kit.symptom(f"adapter of {rows} rows onto a base of {base_rows}", lambda: onto(False)):
            kit.fix(
                "resize-first",
                "resize the base's embeddings before PeftModel.from_pretrained",
                lambda: onto(True),
                words=r"resize_token_embeddings",
            )
    elif case == "rank":
        saved, wanted = kit.options["saved"] or 4, kit.options["model"] or 8
        save(kit.llama(), saved)

        def resumed(rank):
            model = peft.get_peft_model(kit.llama(), lora(rank))
            weights = peft.load_peft_weights(place, device=kit.device)
            peft.set_peft_model_state_dict(model, weights)

        if kit.symptom(f"weights of rank {saved} into adapters of rank {wanted}", lambda: resumed(wanted)):
            kit.fix("same-rank", "the saved r in the LoraConfig", lambda: resumed(saved), words=r"LoraConfig\(r=")
            kit.fix(
                "own-config",
                "PeftModel.from_pretrained, which reads r from adapter_config.json",
                lambda: peft.PeftModel.from_pretrained(kit.llama(), place, is_trainable=True),
                words=r"PeftModel\.from_pretrained",
            )
    else:
        save(kit.llama())

        def load(width):
            peft.PeftModel.from_pretrained(kit.llama(hidden_size=width, intermediate_size=2 * width), place)

        if kit.symptom("adapter of width 32 onto a base of width 48", lambda: load(48)):
            kit.fix(
                "own-base",
                "the base model that the adapter was trained on",
                lambda: load(32),
                words=r"base_model_name_or_path",
            )
