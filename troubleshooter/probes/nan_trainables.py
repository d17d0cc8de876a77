"""Do the trainable parameters end up in float16 here, and does training with them go NaN?

AdamW keeps its state in the parameter's own precision: in float16 its epsilon is zero and its second moment underflows,
so the first or the twentieth step divides by nothing. The probe loads a tiny checkpoint the way the run does (4-bit where
bitsandbytes works, else half precision), adds the adapters, says in which precision they are, and takes optimizer steps;
then the same after the cast to float32.
"""

QUESTION = "Are trainable parameters in half precision in this environment, and does training with them become NaN?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {
    "load": ["auto", "nf4", "float16", "bfloat16", "float32"],
    "adapter": ["lora", "modules_to_save", "full"],
    "optimizer": ["default", "adamw_torch", "adamw_torch_fused"],
    "model_class": ["GemmaForCausalLM", "LlamaForCausalLM"],
}
SETTLED_BY = ["load", "adapter"]
PAIRS = [
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.11.1", "bitsandbytes": "0.49.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.11.1"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.11.1"}),
    ("not-here", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.12.0"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
    (
        "confirmed",
        {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"},
        {"adapter": "modules_to_save", "load": "float16"},
    ),
    (
        "not-here",
        {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"},
        {"adapter": "modules_to_save", "load": "bfloat16"},
    ),
    (
        "confirmed",
        {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"},
        {"adapter": "full", "load": "float16"},
    ),
]
REPRODUCE = """
import torch
from peft import LoraConfig, get_peft_model
from transformers import {model_class}, AutoConfig

config = {model_class}.config_class(vocab_size=120, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                    num_attention_heads=2, num_key_value_heads=2, head_dim=32)
model = {model_class}(config).to(torch.float16)
model = get_peft_model(model, LoraConfig(target_modules=["q_proj", "v_proj", "embed_tokens", "lm_head"]))
trainable = [p for p in model.parameters() if p.requires_grad]
print("trainable parameters are", {{p.dtype for p in trainable}})   # float16: read on
optimizer = torch.optim.AdamW(trainable, lr=2e-4)
for step in range(25):
    ids = torch.randint(1, 120, (2, 16))
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    print(step + 1, loss.item())
"""

STEPS = 25
NEW_TOKENS = 8
ROWS = 120
SIZE = dict(
    vocab_size=ROWS,
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=2,
    head_dim=32,
    max_position_embeddings=64,
    pad_token_id=0,
)
TARGETS = ["q_proj", "v_proj", "embed_tokens", "lm_head"]


class Trial:
    """The run's loading, adapters and optimizer, at tiny size."""

    def __init__(self, kit, load):
        self.kit, self.load = kit, load
        self.torch, self.transformers, self.peft = kit.need("torch", "transformers", "peft")
        self.transformers.logging.set_verbosity_error()
        self.cls = getattr(self.transformers, kit.options["model_class"])
        self.saved = {}
        # A float32 head over a float16 body multiplies only inside autocast.
        self.needs_autocast = kit.options["adapter"] == "modules_to_save"

    def checkpoint(self, dtype):
        """A tiny checkpoint on disk, as a hub would hold it."""
        import os

        if dtype not in self.saved:
            place = os.path.join(self.kit.folder, "checkpoint-" + dtype)
            self.torch.manual_seed(0)
            model = self.cls(self.cls.config_class(**SIZE))
            model.to(self.kit.dtype(dtype)).save_pretrained(place)
            self.saved[dtype] = place
        return self.saved[dtype]

    def base(self, load=None, init="zero"):
        """Load as the run does, then add new tokens."""
        load = load or self.load
        if load.startswith("nf4"):
            quantised = self.transformers.BitsAndBytesConfig(
                load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=self.torch.bfloat16
            )
            more = dict(quantization_config=quantised, device_map={"": self.kit.device})
            if load == "nf4-bfloat16":
                more["torch_dtype"] = self.torch.bfloat16
            model = self.cls.from_pretrained(self.checkpoint("bfloat16"), **more)
        else:
            model = self.cls.from_pretrained(self.checkpoint("float32"), torch_dtype=self.kit.dtype(load))
            model.to(self.kit.device)
        model.resize_token_embeddings(ROWS + NEW_TOKENS)
        head = model.get_output_embeddings()
        if getattr(head, "out_features", None) != head.weight.shape[0]:
            head.out_features = head.weight.shape[0]  # transformers 5.0 leaves the old number on a tied head
        with self.torch.no_grad():
            tables = (model.get_input_embeddings(), model.get_output_embeddings())
            for weight in {id(t.weight): t.weight for t in tables}.values():
                weight[ROWS:] = 0 if init == "zero" else weight[:ROWS].float().mean(0).to(weight.dtype)
        return model

    def adapted(self, **how):
        torch = self.torch
        torch.manual_seed(0)
        model = self.base(**how)
        kind = self.kit.options["adapter"]
        if kind == "full":
            return model.train()
        if kind == "lora":
            config = self.peft.LoraConfig(r=8, lora_alpha=16, target_modules=TARGETS, task_type="CAUSAL_LM")
        else:
            config = self.peft.LoraConfig(
                r=8, target_modules=TARGETS[:2], modules_to_save=TARGETS[2:], task_type="CAUSAL_LM"
            )
        return self.peft.get_peft_model(model, config).train()

    def rounds(self):
        """What is tried, the run's own way first: (fused AdamW?, do sequences start with a new token?)."""
        asked = self.kit.options["optimizer"]
        if asked == "default":
            asked = default_optimizer(self.transformers, self.torch)
            version = self.transformers.__version__
            self.kit.note(f"the Trainer of transformers {version} takes optim={asked!r} by default here")
        if asked == "adamw_torch":
            return [(False, False)]
        return [(True, False), (True, True), (False, False)]

    def train(self, fused, cast=False, new_token_first=False, **how):
        """Optimizer steps as the Trainer takes them; returns what the precision was and when it broke."""
        torch = self.torch
        model = self.adapted(**how)
        if cast:
            for parameter in model.parameters():
                if parameter.requires_grad:
                    parameter.data = parameter.data.float()
        trainable = [p for p in model.parameters() if p.requires_grad]
        counts = {}
        for parameter in trainable:
            counts[name_of(parameter.dtype)] = counts.get(name_of(parameter.dtype), 0) + parameter.numel()
        optimizer = torch.optim.AdamW(trainable, lr=2e-4, fused=fused)
        broke = None
        losses = []
        for step in range(STEPS):
            generator = torch.Generator().manual_seed(step)
            ids = torch.randint(1, ROWS + NEW_TOKENS, (2, 16), generator=generator).to(self.kit.device)
            ids[:, 0] = ROWS + step % NEW_TOKENS if new_token_first else 1
            with self.kit.autocast(torch.float16 if cast and self.needs_autocast else None):
                loss = model(input_ids=ids, labels=ids).loss
            losses.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trainable, 1.0)
            optimizer.step()
            finite = all(bool(torch.isfinite(p).all()) for p in trainable)
            if not finite or losses[-1] != losses[-1]:
                broke = step + 1
                break
        return dict(trainable=counts, broke=broke, first=losses[0], last=losses[-1])

    def step(self, cast, fused):
        """A callable training step, for the price."""

        def make():
            model = self.adapted()
            if cast:
                for parameter in model.parameters():
                    if parameter.requires_grad:
                        parameter.data = parameter.data.float()
            trainable = [p for p in model.parameters() if p.requires_grad]
            optimizer = self.torch.optim.AdamW(trainable, lr=0.0, fused=fused)
            ids = self.torch.randint(1, ROWS, (2, 16)).to(self.kit.device)

            def once():
                optimizer.zero_grad()
                with self.kit.autocast(self.torch.float16 if cast and self.needs_autocast else None):
                    loss = model(input_ids=ids, labels=ids).loss
                loss.backward()
                optimizer.step()

            return once

        return make


def name_of(dtype):
    return str(dtype).replace("torch.", "")


def default_optimizer(transformers, torch):
    """The default of TrainingArguments.optim, read from its source: making one would import the whole Trainer."""
    import re

    with open(transformers.__path__[0] + "/training_args.py", encoding="utf-8") as file:
        text = file.read()
    fused = re.search(r"""\n(?:\s+if (.+):)?\n\s+default_optim = ["']adamw_torch_fused["']""", text)
    if fused is None:
        return "adamw_torch"
    least = re.search(r"(\d+)_(\d+)", fused.group(1) or "")
    here = tuple(map(int, re.findall(r"\d+", torch.__version__)[:2]))
    return "adamw_torch_fused" if least is None or here >= tuple(map(int, least.groups())) else "adamw_torch"


def loading(kit, trial_of):
    """How the run's weights are loaded here: in 4 bits where bitsandbytes works, else in float16."""
    asked = kit.options["load"]
    if asked not in ("auto", "nf4"):
        return asked
    trial = trial_of("nf4")
    kit.say("loading a tiny model in 4 bits")
    try:
        import bitsandbytes

        model = trial.base()
        unquantised = name_of(model.get_input_embeddings().weight.dtype)
        kit.note(f"4-bit works here (bitsandbytes {bitsandbytes.__version__}); what stays unquantised is {unquantised}")
        return "nf4"
    except Exception as error:
        if asked == "nf4":
            kit.undecided(f"4-bit loading does not work here: {type(error).__name__}: {str(error)[:200]}")
        kit.note(
            "4-bit could not be tried here "
            f"({type(error).__name__}: {str(error)[:120]}); a model loaded in float16 was used instead, "
            "which is what 4-bit loading without a dtype leaves in the embeddings (transformers 4)"
        )
        return "float16"


def run(kit):
    load = loading(kit, lambda load: Trial(kit, load))
    trial = Trial(kit, load)
    failing = []
    for fused, new_first in trial.rounds():
        kind = "adamw_torch_fused" if fused else "adamw_torch"
        start = ", sequences start with a new token" if new_first else ""
        kit.say(f"training with {kind}{start}")
        seen = trial.train(fused, new_token_first=new_first)
        case = f"{kit.options['model_class']}, {load}, {kit.options['adapter']}, {kind}{start}"
        kit.measured(case, bad(seen), said(seen), **seen)
        if bad(seen):
            failing.append((fused, new_first))
        if seen["broke"] is not None or "float16" not in seen["trainable"]:
            break  # found; or nothing here trains in float16, which another optimizer would not change
    if failing:
        fixes(kit, trial, *failing[0])
        if failing[-1] != failing[0] and failing[-1][1]:
            starting_with_new_tokens(kit, trial, failing[-1][0])
    if kit.options["adapter"] != "full":
        zero_tokens(kit, trial)


def bad(seen):
    """Not finite, or a loss that ran away: on fixed random data a sound run stays where it starts."""
    return seen["broke"] is not None or seen["last"] > seen["first"] + 1.0


def said(seen):
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(seen["trainable"].items()))
    loss = f"loss {seen['first']:.3f} to {seen['last']:.3f}"
    if seen["broke"] is not None:
        return f"trainable parameters: {kinds}; not finite after step {seen['broke']}"
    if bad(seen):
        return f"trainable parameters: {kinds}; {loss} within {STEPS} steps: it runs away"
    return f"trainable parameters: {kinds}; finite for {STEPS} steps, {loss}"


def fixes(kit, trial, fused, new_first):
    def tried(name, do, words, price=None, **how):
        attempt = kit.attempt(lambda: trial.train(fused, new_token_first=new_first, **how))
        text = f"{attempt.kind}: {attempt.message}" if attempt.error is not None else said(attempt.value)
        removed = None if attempt.error is not None else not bad(attempt.value)
        kit.fix(name, do, removed=removed, text=text, words=words, price=price)

    kit.say("trying the fixes")
    tried(
        "float32-trainables",
        "cast the trainable parameters to float32" + (", train under autocast" if trial.needs_autocast else ""),
        r"\.float\(\)|\.to\(torch\.float32\)|cast .*float32",
        price=(trial.step(False, fused), trial.step(True, fused)),
        cast=True,
    )
    other = "nf4-bfloat16" if trial.load.startswith("nf4") else "bfloat16"
    tried("bfloat16", "load the model in bfloat16", r"dtype\s*=\s*(torch\.)?[\"']?bfloat16", load=other)
    tried("mean-tokens", "initialise new tokens with the mean instead of zeros (alone)", r"mean", init="mean")


def starting_with_new_tokens(kit, trial, fused):
    """The float32 cast alone does not save sequences that start with a zero-initialised token on a float16 base."""
    where = "where sequences start with a zero-initialised token: "
    for name, do, how in (
        ("float32-alone", "cast the trainable parameters to float32", {}),
        ("float32-and-mean", "cast to float32 and initialise new tokens with the mean", {"init": "mean"}),
    ):
        attempt = kit.attempt(lambda how=how: trial.train(fused, cast=True, new_token_first=True, **how))
        if attempt.error is None:
            kit.fix(name, where + do, removed=not bad(attempt.value), text=said(attempt.value))


def zero_tokens(kit, trial):
    """Its own measurement: the gradient where a sequence starts with a zero-initialised token."""
    torch = trial.torch
    largest = {}
    for init in ("zero", "mean"):
        model = trial.adapted(load="float32", init=init)
        ids = torch.randint(1, ROWS, (2, 16), generator=torch.Generator().manual_seed(3)).to(kit.device)
        ids[:, 0] = ROWS + 5
        model(input_ids=ids, labels=ids).loss.backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        largest[init] = max(grad.float().abs().max().item() for grad in grads)
    kit.note(
        "largest gradient when a sequence starts with a new token: "
        f"{largest['zero']:.3g} when it is zero-initialised, {largest['mean']:.3g} when it is the mean of the others "
        f"(float16 ends at 65504)"
    )
