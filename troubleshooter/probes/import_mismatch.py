"""Do two installed libraries no longer fit each other, so that an import fails on a name that moved?"""

QUESTION = "Does the import fail here because two libraries' versions do not fit?"
NEEDS = []
PARAMETERS = {
    "package": ["peft", "trl", "accelerate", "transformers", "datasets"],
    "module": "^(?:transformers|trl|peft|accelerate|datasets|huggingface_hub|tokenizers)(?:\\.[A-Za-z_][A-Za-z0-9_]*)*$",
    "name": "^[A-Za-z_][A-Za-z0-9_]*$",
}
SETTLED_BY = ["module", "name"]
PAIRS = [
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1", "peft": "0.17.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.17.1"}),
    ("confirmed", {"transformers": "4.45.2", "accelerate": "1.5.2", "peft": "0.18.1"}),
    ("not-here", {"transformers": "5.0.0", "accelerate": "1.10.1", "peft": "0.18.1"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.17.1"}),
    (
        "confirmed",
        {"transformers": "5.0.0", "accelerate": "1.10.1", "datasets": "3.6.0", "trl": "0.21.0"},
        {"package": "trl"},
    ),
    (
        "confirmed",
        {"transformers": "4.53.3", "accelerate": "1.10.1", "datasets": "3.6.0", "trl": "1.16.0"},
        {"package": "trl"},
    ),
    (
        "not-here",
        {"transformers": "4.57.6", "accelerate": "1.10.1", "datasets": "3.6.0", "trl": "0.24.0"},
        {"package": "trl"},
    ),
    ("confirmed", {"transformers": "5.0.0"}, {"module": "transformers", "name": "HybridCache"}),
    ("not-here", {"transformers": "4.57.6"}, {"module": "transformers", "name": "HybridCache"}),
]
REPRODUCE = """
import {package}
"""
NAMES = {
    "peft": ["PeftModel"],
    "trl": ["SFTTrainer", "DPOTrainer"],
    "accelerate": ["Accelerator"],
    "transformers": ["Trainer"],
    "datasets": ["Dataset"],
}


def run(kit):
    import importlib
    import importlib.util

    # transformers and trl import lazily and wrap what went wrong in a RuntimeError of their own.
    kit.expects(
        ("ImportError", "AttributeError", "RuntimeError"),
        r"cannot import name|has no attribute|No module named '(?:transformers|peft|trl|accelerate)\.|mergekit",
    )
    if "module" in kit.options and "name" in kit.options:
        one_name(kit, kit.options["module"], kit.options["name"])
        return
    package = kit.options["package"]
    names = [kit.options["name"]] if "name" in kit.options else NAMES[package]
    if importlib.util.find_spec(package) is None:
        kit.undecided(f"{package} is not installed in this environment")

    for name in names:
        kit.say(f"from {package} import {name}")
        kit.symptom(f"from {package} import {name}", lambda name=name: getattr(importlib.import_module(package), name))
    if package == "peft" and "name" not in kit.options:
        smoke(kit)


def smoke(kit):
    """Some mismatches show only when an adapter is made."""
    kit.need("torch")

    def adapt():
        from peft import LoraConfig, get_peft_model

        get_peft_model(kit.llama(), LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"))

    kit.symptom("a LoRA adapter on a tiny model", adapt)


def one_name(kit, module, name):
    """The very import of the log; both words were held to patterns before they came here."""
    import importlib.util

    if importlib.util.find_spec(module.split(".")[0]) is None:
        kit.undecided(f"{module.split('.')[0]} is not installed in this environment")
    line = f"from {module} import {name}"
    kit.say(line)
    kit.symptom(line, lambda: exec(line, {}))
