"""Does this transformers fail to save a model that was read from 4-bit weights?"""

QUESTION = "Does saving a model fail that this transformers read from 4-bit weights?"
NEEDS = ["torch", "transformers", "accelerate", "bitsandbytes"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1", "bitsandbytes": "0.49.0"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "bitsandbytes": "0.49.0"}),
]
REPRODUCE = """
model = AutoModelForCausalLM.from_pretrained("packed")      # a folder of 4-bit weights, as unsloth/…-bnb-4bit
model.save_pretrained("saved")
"""


def run(kit):
    kit.expects("NotImplementedError", r"^$")
    import os

    kit.need("torch", "bitsandbytes")
    transformers = kit.need("transformers")
    base, packed, saved = (os.path.join(kit.folder, name) for name in ("base", "packed", "saved"))
    kit.llama(hidden_size=64).save_pretrained(base)

    def load(folder, **how):
        return transformers.AutoModelForCausalLM.from_pretrained(folder, **how)

    load(base, quantization_config=transformers.BitsAndBytesConfig(load_in_4bit=True)).save_pretrained(packed)
    if kit.symptom("a folder of 4-bit weights is loaded and saved again", lambda: load(packed).save_pretrained(saved)):
        kit.fix(
            "16-bit-base",
            "load the base in 16 bits",
            lambda: load(base, dtype="bfloat16").save_pretrained(saved),
            words=r"dtype=torch\.bfloat16",
        )
