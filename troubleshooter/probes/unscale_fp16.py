"""Does the gradient scaler refuse because the trainable parameters themselves are in float16?

Mixed precision keeps float32 parameters and computes in float16. A model loaded in float16 has none to keep, and
``GradScaler.unscale_`` says so. PEFT casts its adapters up, but not the copies that ``modules_to_save`` trains.
"""

QUESTION = "Does the gradient scaler refuse float16 parameters here?"
NEEDS = ["torch"]
PARAMETERS = {"part": ["model", "modules_to_save"]}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
    (
        "confirmed",
        {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.18.1"},
        {"part": "modules_to_save"},
    ),
    (
        "confirmed",
        {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"},
        {"part": "modules_to_save"},
    ),
]
REPRODUCE = """
import torch

model = torch.nn.Linear(8, 8).half()
optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
with torch.autocast("cpu", dtype=torch.float16):
    loss = model(torch.randn(2, 8)).float().pow(2).mean()
scaler.scale(loss).backward()
scaler.unscale_(optimizer)
"""


def run(kit):
    kit.expects("ValueError", r"Attempting to unscale FP16 gradients")
    torch = kit.need("torch")
    if not hasattr(torch.amp, "GradScaler"):
        kit.undecided(f"torch {torch.__version__} has no gradient scaler for a CPU (torch 2.3 and newer do)")
    part = kit.options["part"]

    def model_and_input():
        torch.manual_seed(0)
        if part == "model":
            model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)).to(kit.device).half()
            x = torch.randn(2, 8, device=kit.device)
            return model, lambda: model(x).float().pow(2).mean()
        peft = kit.need("peft")
        config = peft.LoraConfig(r=4, target_modules=["q_proj"], modules_to_save=["lm_head"], task_type="CAUSAL_LM")
        model = peft.get_peft_model(kit.llama(tie_word_embeddings=False).half(), config)
        ids = torch.randint(1, 100, (2, 8), device=kit.device)
        return model, lambda: model(input_ids=ids, labels=ids).loss

    def prepared(cast):
        model, loss_of = model_and_input()
        trainable = [p for p in model.parameters() if p.requires_grad]
        if cast:
            for parameter in trainable:
                parameter.data = parameter.data.float()
        optimizer, scaler = torch.optim.SGD(trainable, lr=1e-3), torch.amp.GradScaler(kit.device)

        def once():
            optimizer.zero_grad()
            with kit.autocast(torch.float16):
                loss = loss_of()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()

        return once

    def unscaled():
        """Float16 trainables without a scaler run: what the fixes are compared with."""
        model, loss_of = model_and_input()
        trainable = [p for p in model.parameters() if p.requires_grad]
        return stepped(kit, loss_of, torch.optim.SGD(trainable, lr=1e-3), torch.float16)

    if kit.symptom(f"{part} in float16, scaled gradients", lambda: prepared(False)()):
        kit.fix(
            "float32-trainables",
            "keep the trainable parameters in float32",
            lambda: prepared(True)(),
            words=r"\.float\(\)|to\(torch\.float32\)|float32",
            price=(unscaled, lambda: prepared(True)),
        )
        bfloat16(kit, torch, model_and_input, unscaled)


def stepped(kit, loss_of, optimizer, dtype):
    def step():
        optimizer.zero_grad()
        with kit.autocast(dtype):
            loss = loss_of()
        loss.backward()
        optimizer.step()

    return step


def bfloat16(kit, torch, model_and_input, unscaled):
    def prepared():
        model, loss_of = model_and_input()
        model.to(torch.bfloat16)
        trainable = [p for p in model.parameters() if p.requires_grad]
        return stepped(kit, loss_of, torch.optim.SGD(trainable, lr=1e-3), torch.bfloat16)

    kit.fix(
        "bfloat16",
        "train in bfloat16, which needs no scaler",
        lambda: prepared()(),
        words=r"\bbf16\s*[=:]\s*[Tt]rue|bfloat16",
        price=(unscaled, prepared),
    )
