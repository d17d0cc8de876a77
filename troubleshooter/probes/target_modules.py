"""Does PEFT find the modules that the adapter names in this kind of model?"""

QUESTION = "Does PEFT find these target modules in this kind of model?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {
    "case": ["not-found", "not-linear", "unspecified"],
    "model_type": [
        "llama",
        "gemma3_text",
        "qwen3",
        "gpt2",
        "qwen2",
        "mistral",
        "gemma",
        "phi",
        "gpt_neox",
        "opt",
        "bloom",
        "falcon",
    ],
    "targets": "^[A-Za-z0-9_.]+(?:,[A-Za-z0-9_.]+)*$",  # what a log calls a set: without its braces, quotes and blanks
}
USES_MODEL = True
SETTLED_BY = ["targets", "--model"]
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}, {"case": "not-linear"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}, {"case": "not-linear"}),
    (
        "confirmed",
        {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"},
        {"case": "unspecified", "model_type": "gemma3_text"},
    ),
    (
        "not-here",
        {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"},
        {"case": "unspecified", "model_type": "gemma3_text"},
    ),
]
REPRODUCE = """
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM

model = AutoModelForCausalLM.from_config(AutoConfig.for_model("{model_type}"))     # or your own model
print(sorted({{name.rsplit(".", 1)[-1] for name, m in model.named_modules() if "Linear" in type(m).__name__}}))
get_peft_model(model, LoraConfig(target_modules=["c_attn"]))
"""
SIZES = dict(
    vocab_size=64,
    hidden_size=32,
    n_embd=32,
    intermediate_size=64,
    num_hidden_layers=1,
    n_layer=1,
    num_attention_heads=2,
    n_head=2,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=64,
    ffn_dim=64,
    word_embed_proj_dim=32,
)


def run(kit):
    kit.expects(
        "ValueError",
        r"Target modules? .* not found in the base model|No modules were targeted"
        r"|Target module [\s\S]* is not supported|Please specify `?target_modules`? in `?peft_config`?",
    )
    torch, transformers, peft = kit.need("torch", "transformers", "peft")
    kind, case = kit.options["model_type"], kit.options["case"]
    try:
        if kit.model is None:
            config = transformers.AutoConfig.for_model(kind)
        else:  # the user's own architecture, at tiny size; nothing that the folder brings is run
            config = transformers.AutoConfig.from_pretrained(kit.model, local_files_only=True, trust_remote_code=False)
            kind = config.model_type
    except (ValueError, OSError, KeyError) as error:
        kit.undecided(f"this transformers knows no {kit.model or kind}: {str(error)[:200]}")
    for name, value in SIZES.items():
        if hasattr(config, name):
            setattr(config, name, value)
    defaults = {"not-found": "q_proj" if kind == "gpt2" else "c_attn", "not-linear": "mlp", "unspecified": ""}
    asked = kit.options.get("targets", defaults[case])
    targets = asked.split(",") if asked else None

    def adapt(names):
        model = transformers.AutoModelForCausalLM.from_config(config)
        return peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=names, task_type="CAUSAL_LM"))

    def step(names):
        """A step with these adapters; of the bare model for None."""
        model = adapt(names) if names else transformers.AutoModelForCausalLM.from_config(config)
        ids = torch.randint(1, 60, (1, 8))
        return kit.training_step(model.to(kit.device), input_ids=ids, labels=ids)

    said = ", ".join(targets) if targets else "no target_modules"
    if kit.symptom(f"{said} in a tiny {kind}", lambda: adapt(targets)):
        model = transformers.AutoModelForCausalLM.from_config(config)
        linear = sorted(
            {
                name.rsplit(".", 1)[-1]
                for name, module in model.named_modules()
                if type(module).__name__ in ("Linear", "Conv1D") and "head" not in name and name != "embed_out"
            }
        )
        kit.note(f"linear layers of this kind of model: {', '.join(linear)}")
        kit.fix(
            "own-names",
            f"name its own layers: {linear}",
            lambda: adapt(linear),
            words=r"target_modules=\[|named_modules|q_proj",
            price=(lambda: step(None), lambda: step(linear)),
        )
        kit.fix(
            "all-linear",
            'target_modules="all-linear"',
            lambda: adapt("all-linear"),
            words=r"=\"all-linear\"",
            price=(lambda: step(None), lambda: step("all-linear")),
        )
