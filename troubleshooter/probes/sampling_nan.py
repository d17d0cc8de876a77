"""Does sampling fail where float16 activations pass 65504?"""

QUESTION = "Does generate() with sampling fail here on logits that float16 cannot hold?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
DEVICES = ["cpu"]  # on a GPU the failing kernel would end the process
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
model = model.half()
model.lm_head.weight.data *= 60000 / model.lm_head.weight.abs().max()   # large weights: the logits overflow
model.generate(ids, do_sample=True, max_new_tokens=2)                   # bfloat16 holds them
"""


def run(kit):
    kit.expects("RuntimeError", r"probability tensor contains either `inf`, `nan`")
    torch = kit.need("torch")

    def generate(dtype):
        model = kit.llama()
        model.lm_head.weight.data *= 60000 / model.lm_head.weight.abs().max()
        ids = torch.randint(3, 100, (1, 6), device=kit.device)
        model.to(dtype).generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, max_new_tokens=2)

    if kit.symptom("a float16 model whose logits overflow", lambda: generate(torch.float16)):
        kit.fix(
            "bfloat16", "generate in bfloat16", lambda: generate(torch.bfloat16), words=r"torch_dtype=torch\.bfloat16"
        )
