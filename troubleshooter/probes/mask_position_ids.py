"""Does generation with prompt tuning fail because the function for masks wants position_ids, which PEFT does not pass?"""

QUESTION = "Do this transformers and this PEFT disagree on position_ids where a cache of fixed size is used?"
NEEDS = ["torch", "transformers", "accelerate", "peft"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"transformers": "4.53.1", "accelerate": "1.10.1", "peft": "0.16.0"}),
    ("not-here", {"transformers": "4.53.3", "accelerate": "1.10.1", "peft": "0.16.0"}),
]
REPRODUCE = """
model = peft.get_peft_model(base, peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4))
model.generate(input_ids=ids, past_key_values=StaticCache(base.config, max_batch_size=1, max_cache_len=64))
"""


def run(kit):
    kit.expects("TypeError", r"create_masks_for_generate\(\) missing 1 required positional argument: 'position_ids'")
    torch, transformers, peft = kit.need("torch", "transformers", "peft")
    base = kit.llama().eval()
    tuning = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4)
    model = peft.get_peft_model(base, tuning).eval()
    ids = torch.randint(3, 120, (1, 6))

    def generate(**more):
        return model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=2, **more)

    def with_static_cache():
        cache = transformers.StaticCache(base.config, max_batch_size=1, max_cache_len=64)
        return generate(past_key_values=cache)

    if kit.symptom("prompt tuning with a StaticCache", with_static_cache):
        kit.fix("growing-cache", "generate with the cache that grows", generate, words=r"without a cache of fixed size")
