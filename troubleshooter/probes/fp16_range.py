"""Do this model's activations leave float16's range (65,504), so that loss is printed as 0 and grad_norm or rewards are NaN?

Only the weights can tell: a tiny random model never overflows, a scaled one always does. With ``--model DIR`` the probe
bounds the residual stream from the norms' gains (reading the safetensors as a stream) and, where the model fits into
memory, measures every module's output in bfloat16 and runs the same batch in float16.
"""

QUESTION = "Do the activations of your model exceed float16's largest number?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {"precision": ["weights", "autocast"]}
USES_MODEL = True
SETTLED_BY = ["--model"]
PAIRS = []
REPRODUCE = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("YOUR/MODEL/FOLDER", torch_dtype=torch.bfloat16, use_safetensors=True)
largest = {}
def watch(name):
    def hook(module, inputs, output):
        output = output[0] if isinstance(output, tuple) else output
        if torch.is_tensor(output): largest[name] = output.abs().max().item()
    return hook
for name, module in model.named_modules():
    module.register_forward_hook(watch(name))
with torch.no_grad():
    model(input_ids=torch.randint(3, 1000, (1, 64)))
print(sorted(largest.items(), key=lambda pair: -pair[1])[:5])     # float16 ends at 65504
"""

LIMIT = 65504.0
ITEM = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


def run(kit):
    torch = kit.need("torch")
    if kit.model is None:
        mechanism(kit, torch)
        kit.undecided(
            "whether activations overflow depends on the trained weights: give the model's folder with --model DIR"
        )
    config, tensors = read_folder(kit)
    bounds(kit, config, tensors)
    measure(kit, torch, config, tensors)


# --- without running the model --------------------------------------------------------------------------------------


def read_folder(kit):
    """config.json and the safetensors' headers: name to (file, kind, shape, first byte, last byte)."""
    import json
    import os
    import struct

    try:
        with open(os.path.join(kit.model, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
    except (OSError, ValueError) as error:
        kit.undecided(f"{kit.model}: no readable config.json ({error}); give a folder saved by save_pretrained")
    tensors = {}
    for name in sorted(os.listdir(kit.model)):
        if not name.endswith(".safetensors"):
            continue
        path = os.path.join(kit.model, name)
        with open(path, "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            if length > 100 << 20:
                kit.undecided(f"{name} has no safetensors header")
            header = json.loads(file.read(length))
        for key, entry in header.items():
            if key != "__metadata__":
                first, last = entry["data_offsets"]
                tensors[key] = (path, entry["dtype"], entry["shape"], 8 + length + first, 8 + length + last)
    if not tensors:
        kit.undecided(
            f"{kit.model} holds no .safetensors file (other formats can run code when loaded and are not read)"
        )
    return config, tensors


def largest(entry):
    """The largest magnitude of one tensor, read in pieces; for half formats the bits without the sign sort as numbers."""
    import numpy

    path, kind, _, first, last = entry
    found = 0.0
    with open(path, "rb") as file:
        file.seek(first)
        left = last - first
        while left:
            piece = file.read(min(left, 16 << 20))
            if not piece:
                break
            left -= len(piece)
            if kind == "BF16":
                top = int((numpy.frombuffer(piece, "<u2") & 0x7FFF).max())
                value = float(numpy.array([top << 16], "<u4").view("<f4")[0])
            elif kind in ("F16", "F32", "F64"):
                value = float(numpy.abs(numpy.frombuffer(piece, "<f%d" % ITEM[kind])).max())
            else:
                return 0.0
            found = max(found, value)
    return found


def bounds(kit, config, tensors):
    """An upper bound of the residual stream from the gains of the norms that stand after each block (Gemma's way)."""
    text = config.get("text_config") or config
    width = text.get("hidden_size")
    gemma = str(config.get("model_type", "")).startswith("gemma")
    kept = config.get("dtype") or config.get("torch_dtype") or text.get("dtype") or text.get("torch_dtype")
    if kept:
        kit.note(f"the checkpoint was saved in {kept}")
    post = ("post_attention_layernorm.weight", "post_feedforward_layernorm.weight")
    has_post = any(name.endswith(post[1]) for name in tensors)
    if not (width and has_post):
        kit.note("this architecture normalises only before its blocks: the norms' gains do not bound its activations")
        return
    total = 0.0
    for name, entry in tensors.items():
        if name.endswith(post):
            total += gain(entry, gemma) * width**0.5
        elif name.endswith("embed_tokens.weight"):
            total += largest(entry) * (width if gemma else 1)  # Gemma multiplies its embeddings by sqrt(width)
    words = "it cannot" if total < LIMIT else "it may"
    kit.note(f"the norms' gains bound the residual stream by {total:,.0f}: {words} exceed 65,504")


def gain(entry, gemma):
    """Largest factor of one norm: Gemma stores w and multiplies by 1 + w."""
    import numpy

    path, kind, _, first, last = entry
    with open(path, "rb") as file:
        file.seek(first)
        data = file.read(last - first)
    if kind == "BF16":
        values = (numpy.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    else:
        values = numpy.frombuffer(data, "<f%d" % ITEM[kind])
    return float(numpy.abs(values.astype("f8") + (1.0 if gemma else 0.0)).max())


# --- running it -----------------------------------------------------------------------------------------------------


def measure(kit, torch, config, tensors):
    size = sum(last - first for _, _, _, first, last in tensors.values())
    half = sum((last - first) // ITEM.get(kind, 1) * 2 for _, kind, _, first, last in tensors.values())
    need = half * (2 if kit.options["precision"] == "autocast" else 1)
    room = available() * 0.6
    if room and need > room:
        kit.undecided(
            f"the model ({size / 2**30:.1f} GB) does not fit into this machine's free memory; its activations were "
            "not measured (the notes hold what its norms say)"
        )
    transformers = kit.need("transformers")
    transformers.logging.set_verbosity_error()
    kit.say("loading the model in bfloat16")
    model = load(kit, transformers, config, torch.bfloat16)
    ids = batch(kit, torch, config)
    kit.say("one forward in bfloat16")
    loss, peaks = forward(torch, model, ids, None, kit)
    top = sorted(peaks.items(), key=lambda pair: -pair[1])[:3]
    shown = ", ".join(f"{value:,.0f} at {name}" for name, value in top)
    text = f"largest activations in bfloat16: {shown}; float16 ends at 65,504"
    autocast = kit.options["precision"] == "autocast"
    full = None
    if autocast or not room or half * 2 <= room:  # before float16, from which no weight comes back whole
        model.float()
        full, _ = forward(torch, model, ids, None, kit)
    kit.say("the same batch in float16")
    if not autocast:
        model.half()
    again, overflowed = forward(torch, model, ids, torch.float16 if autocast else None, kit)
    broken = [name for name, value in overflowed.items() if value == float("inf")]
    bad = not finite(again)
    place = f", first at {broken[0]}" if broken else ""
    text += f"; loss {loss:.4f} in bfloat16, {again:.4f} in float16{place}"
    kit.measured(f"float16 {kit.options['precision']}", bad, text, top=top, loss=loss, loss_float16=again)
    if bad:
        fixes(kit, torch, model, ids, loss, full)
    elif top and top[0][1] > LIMIT:
        kit.note(
            f"activations of {top[0][1]:,.0f} stay in float32 under autocast; float16 *weights* would overflow on them"
        )


def finite(number):
    return number == number and abs(number) != float("inf")


def fixes(kit, torch, model, ids, loss, full):
    def step(dtype):
        def make():
            model.to(dtype)

            def once():
                with torch.no_grad():
                    model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids)

            return once

        return make

    kit.fix(
        "bfloat16",
        "train in bfloat16",
        removed=finite(loss),
        text=f"the same batch has loss {loss:.4f} in bfloat16",
        words=r"\bbf16\s*[=:]\s*[Tt]rue|bfloat16",
        price=(step(torch.float16), step(torch.bfloat16), 2),
    )
    if full is not None:
        kit.fix(
            "float32",
            "train in float32",
            removed=finite(full),
            text=f"the same batch has loss {full:.4f} in float32",
            words=r"dtype\s*=\s*torch\.float32|train in float32",
            price=(step(torch.float16), step(torch.float32), 2),
        )


def available():
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def load(kit, transformers, config, dtype):
    names = [name for name in config.get("architectures") or [] if hasattr(transformers, name)]
    cls = getattr(transformers, names[0]) if names else transformers.AutoModelForCausalLM
    try:
        return cls.from_pretrained(
            kit.model, torch_dtype=dtype, use_safetensors=True, local_files_only=True, trust_remote_code=False
        ).eval()
    except Exception as error:
        kit.undecided(f"the model does not load: {type(error).__name__}: {str(error)[:300]}")


def batch(kit, torch, config):
    """The model's own words where it brings a tokenizer; the first token matters, since it gathers large activations."""
    import os

    text = config.get("text_config") or config
    path = os.path.join(kit.model, "tokenizer.json")
    if os.path.exists(path):
        try:
            from tokenizers import Tokenizer

            ids = Tokenizer.from_file(path).encode("Question: why does the loss stay at zero?\nAnswer: because ").ids
            if len(ids) > 4 and max(ids) < text["vocab_size"]:
                return torch.tensor([ids])
        except Exception as error:
            kit.note(f"the tokenizer could not be used ({type(error).__name__}); random tokens were")
    ids = torch.randint(3, text["vocab_size"], (2, 32))
    first = text.get("bos_token_id")
    ids[:, 0] = first if isinstance(first, int) and first < text["vocab_size"] else ids[:, 0]
    return ids


def forward(torch, model, ids, autocast, kit):
    """One batch with a watch on what every module puts out and on what goes into the MLP's last product."""
    peaks = {}

    def watch(name, tensor):
        if torch.is_tensor(tensor) and tensor.is_floating_point() and tensor.numel():
            value = tensor.detach().abs().max().float().item()
            value = float("inf") if value != value else value
            peaks[name] = max(peaks.get(name, 0.0), value)

    def after(name):
        return lambda module, given, out: watch(name, out[0] if isinstance(out, tuple) else out)

    def before(name):
        return lambda module, given: watch(name + " (input)", given[0] if given else None)

    hooks = []
    for name, module in model.named_modules():
        if name and not list(module.children()) and "lm_head" not in name:
            hooks.append(module.register_forward_hook(after(name)))
        elif name.rsplit(".", 1)[-1].isdigit():
            hooks.append(module.register_forward_hook(after(name)))
        if name.endswith("down_proj"):
            hooks.append(module.register_forward_pre_hook(before(name)))
    try:
        with torch.no_grad(), kit.autocast(autocast):
            loss = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids).loss.float().item()
    finally:
        for hook in hooks:
            hook.remove()
    return loss, peaks


def mechanism(kit, torch):
    """What the overflow looks like, with a tiny model whose norms' gains were turned up until it happens."""
    transformers = kit.need("transformers")
    if not hasattr(transformers, "Gemma3ForCausalLM"):
        return
    config = transformers.Gemma3TextConfig(
        vocab_size=128,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        sliding_window=8,
        pad_token_id=0,
    )
    model = transformers.Gemma3ForCausalLM(config)
    for name, parameter in model.named_parameters():
        if "post_" in name:
            parameter.data.fill_(12000.0)
    ids = torch.randint(1, 128, (2, 16))
    found = {}
    for kind in ("bfloat16", "float16"):
        found[kind] = model.to(kit.dtype(kind))(input_ids=ids, labels=ids).loss.item()
    kit.mechanism(
        "a tiny Gemma 3 with norm gains of 12,000",
        f"loss {found['bfloat16']:.3f} in bfloat16, {found['float16']:.3f} in float16",
        **found,
    )
