"""Does this PEFT refuse an adapter_config.json with a field that it does not know (written by a newer PEFT)?

The adapter is saved by the installed PEFT; one field is added to its adapter_config.json, as a newer release would have
written it; then it is loaded.
"""

QUESTION = "Does this PEFT refuse an adapter config with a field of a newer release?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {"field": "^[a-z][a-z0-9_]{0,60}$"}
SETTLED_BY = ["field"]
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.11.1"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.12.0"}),
    ("not-here", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
]
REPRODUCE = """
import json
from peft import LoraConfig, PeftConfig

LoraConfig(target_modules=["q_proj"]).save_pretrained("adapter")
config = json.load(open("adapter/adapter_config.json"))
config["field_of_a_newer_release"] = None
json.dump(config, open("adapter/adapter_config.json", "w"))
PeftConfig.from_pretrained("adapter")
"""


def run(kit):
    import json
    import os

    kit.expects("TypeError", r"__init__\(\) got an unexpected keyword argument")
    kit.need("torch")
    peft = kit.need("peft")
    field = kit.options.get("field", "field_of_a_newer_release")
    place = os.path.join(kit.folder, "adapter")
    peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM").save_pretrained(place)
    path = os.path.join(place, "adapter_config.json")

    def write(**more):
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        config.pop(field, None)
        config.update(more)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)

    def load():
        peft.PeftConfig.from_pretrained(place)

    write(**{field: None})
    if kit.symptom(f"adapter_config.json with {field}", load):
        write()
        kit.fix(
            "without-the-field",
            "take the unknown field out of adapter_config.json",
            load,
            words=r"unknown fields|json\.dump",
        )
