"""Does peft refuse a folder without adapter_config.json, such as the parent of the checkpoints?"""

QUESTION = "Does PeftModel.from_pretrained fail here on a folder that holds checkpoints but no adapter?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
]
REPRODUCE = """
from peft import PeftModel

PeftModel.from_pretrained(model, "out")                 # out/checkpoint-2 holds the adapter
"""


def run(kit):
    import os

    kit.expects("ValueError", r"Can't find 'adapter_config\.json' at")
    _, peft = kit.need("torch", "peft")
    out = os.path.join(kit.folder, "out")
    adapted = peft.get_peft_model(kit.llama(), peft.LoraConfig(r=2, target_modules=["q_proj"]))
    adapted.save_pretrained(os.path.join(out, "checkpoint-2"))

    def load(folder):
        return peft.PeftModel.from_pretrained(kit.llama(), folder)

    if kit.symptom("the folder above the checkpoints", lambda: load(out)):
        kit.fix(
            "checkpoint-folder",
            "the subfolder that holds adapter_config.json",
            lambda: load(os.path.join(out, "checkpoint-2")),
            words=r"find \. -name adapter_config\.json",
        )
