"""Two precisions meet in one matrix product ("expected m1 and m2 to have the same dtype", "Half != float"): what here causes it?

Three questions, from the host to the model. ``devices``: which GPUs are there, in which order, and what can each do (a run
on the wrong one of two unlike cards is a reported cause). ``adapter``: a tiny model with the run's kind of adapter, or with
the part that people upcast, in a training step outside and inside autocast. ``mechanism``: torch alone; it shows what the
message means and confirms nothing.
"""

QUESTION = "Which part of this environment lets float16 and float32 meet in one matrix product?"
NEEDS = ["torch"]
PARAMETERS = {
    "question": ["all", "devices", "adapter", "mechanism"],
    "adapter": ["upcast", "norms-float32", "lm-head-float32", "inputs-embeds", "lora", "modules_to_save"],
    "dtype": ["float16", "bfloat16"],
}
SETTLED_BY = ["question=devices"]
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.18.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}, {"adapter": "lm-head-float32"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}, {"adapter": "lm-head-float32"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}, {"adapter": "norms-float32"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}, {"adapter": "inputs-embeds"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.18.1"}, {"adapter": "lora"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}, {"adapter": "modules_to_save"}),
]
REPRODUCE = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM

model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                     num_attention_heads=2)).to(torch.{dtype})
for parameter in model.parameters():
    if parameter.ndim == 1:                      # the norms, as prepare_model_for_kbit_training does
        parameter.data = parameter.data.float()
ids = torch.randint(0, 60, (2, 8))
model(input_ids=ids, labels=ids).loss.backward() # RuntimeError; inside torch.autocast("cpu", torch.{dtype}) it runs
"""

# The wording differs by operation, device and version of torch; all of them say that two precisions met.
MESSAGE = (
    r"expected (?:m1 and m2|mat1 and mat2) to have the same dtype"
    r"|mat1 and mat2 must have the same dtype"
    r"|expected scalar type (?:Half|Float|BFloat16) but found (?:Half|Float|BFloat16)"
    r"|Expected query, key, and value to have the same dtype"
)
NO_HALF = r"not implemented for 'Half'|only support Bfloat16"


def run(kit):
    kit.expects("RuntimeError", MESSAGE)
    question = kit.options["question"]
    torch = kit.need("torch")
    if question in ("all", "devices"):
        devices(kit, torch)
    if question in ("all", "adapter"):
        adapter(kit, torch)
    elif question == "mechanism":
        mechanism(kit, torch)


# --- (a) the host ---------------------------------------------------------------------------------------------------


def devices(kit, torch):
    import os

    from _gpu import host_facts, old_bitsandbytes

    alone = kit.options["question"] == "devices"
    facts = host_facts(torch.cuda, os.environ, kit.nvidia)
    if not facts["devices"] and not facts["driver"]:
        if alone:
            kit.undecided("no GPU answers on this machine; ask on the host of the run which card it used")
        kit.note("no GPU answered: which card ran, a reported cause of this message, was not asked")
        return
    for text in facts["findings"]:
        kit.note(text)
    if alone:
        old = facts["old"] and old_bitsandbytes()
        if old:
            facts["findings"].append(f"bitsandbytes {old} is installed")
        said = "; ".join(facts["findings"]) or "GPUs of one kind, none below capability 7.5"
        kit.measured("the GPUs of this host", bool(facts["ambiguous"] or old), said, **facts)


# --- (b) the mechanism ----------------------------------------------------------------------------------------------


def mechanism(kit, torch):
    half = kit.dtype(kit.options["dtype"])

    def product(autocast):
        layer = torch.nn.Linear(8, 8, bias=False).to(kit.device, half)
        x = torch.randn(2, 8, device=kit.device, requires_grad=True)
        with kit.autocast(half if autocast else None):
            layer(x).float().sum().backward()

    outside, inside = kit.attempt(lambda: product(False)), kit.attempt(lambda: product(True))
    kit.mechanism(
        "a float32 input meets a half-precision weight",
        f"outside autocast: {outside.message or 'runs'}; inside: {inside.message or 'runs'}",
    )


# --- (c) the user's kind of adapter ---------------------------------------------------------------------------------


class Step:
    """One training step of a tiny model with the given part in float32."""

    def __init__(self, kit, torch, part):
        self.kit, self.torch, self.part = kit, torch, part
        self.half = kit.dtype(kit.options["dtype"])

    def model(self):
        model = self.kit.llama(tie_word_embeddings=False).to(self.half)
        if self.part in ("lora", "modules_to_save"):
            peft = self.kit.need("peft")
            kept = ["lm_head"] if self.part == "modules_to_save" else None
            config = peft.LoraConfig(
                r=4, target_modules=["q_proj", "v_proj"], modules_to_save=kept, task_type="CAUSAL_LM"
            )
            model = peft.get_peft_model(model, config)
        if self.part == "norms-float32":
            for parameter in model.parameters():
                if parameter.ndim == 1:
                    parameter.data = parameter.data.float()
        if self.part == "lm-head-float32":
            model.lm_head.float()
        return model.train()

    def prepared(self, autocast):
        model = self.model()
        ids = self.torch.randint(1, 100, (2, 8), device=self.kit.device)

        def once():
            inputs = dict(input_ids=ids)
            if self.part == "inputs-embeds":
                inputs = dict(inputs_embeds=model.get_input_embeddings()(ids).float())
            with self.kit.autocast(self.half if autocast else None):
                loss = model(labels=ids, **inputs).loss
            loss.backward()

        return once

    def run(self, autocast=False):
        self.prepared(autocast)()


def adapter(kit, torch):
    kit.need("transformers")
    asked = kit.options["adapter"]
    parts = ["norms-float32", "lm-head-float32", "inputs-embeds"] if asked == "upcast" else [asked]
    failing = None
    for part in parts:
        kit.say(f"a training step with {part}")
        step = Step(kit, torch, part)
        attempt = kit.attempt(step.run)
        import re

        if attempt.error is not None and re.search(NO_HALF, attempt.message):
            kit.undecided(f"this torch cannot multiply {kit.options['dtype']} on a CPU: {attempt.message[:200]}")
        if kit.symptom(f"{part}, {kit.options['dtype']} model, outside autocast", step.run):
            failing = failing or step
            kit.fix(
                f"{part}:autocast",
                f"{part}: run the forward inside autocast",
                lambda step=step: step.run(autocast=True),
                words=r"autocast|\bfp16\s*=\s*True|\bbf16\s*=\s*True",
            )
    if failing is not None:
        same = Step(kit, torch, "none")
        kit.fix(
            "one-dtype",
            "keep the whole model in one precision (cast back what was upcast)",
            same.run,
            words=r"one (?:precision|dtype)|same dtype|\.to\(model\.dtype\)|\.to\([^)]*dtype",
            price=(lambda: failing.prepared(True), lambda: same.prepared(False)),
        )
