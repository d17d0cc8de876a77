"""Does a normalisation on the processor refuse float32 activations beside half-precision weights?"""

QUESTION = "Does layer_norm on the processor refuse float32 inputs with bfloat16 weights here?"
NEEDS = ["torch"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch

torch.nn.LayerNorm(8).bfloat16()(torch.ones(2, 8))      # .float() runs
"""


def run(kit):
    kit.expects("RuntimeError", r"mixed dtype \(CPU\): expect (?:input|parameter|all inputs)")
    torch = kit.need("torch")
    x = torch.randn(64, 64)

    def norm(dtype, given):
        layer = torch.nn.LayerNorm(64).to(dtype)
        return lambda: layer(x.to(given))

    def half():
        return norm(torch.bfloat16, torch.bfloat16)

    def single():
        return norm(torch.float32, torch.float32)

    if kit.symptom("bfloat16 weights, float32 activations", lambda: norm(torch.bfloat16, torch.float32)()):
        kit.fix(
            "float32",
            "load in float32 for the CPU",
            lambda: single()(),
            words=r"from_pretrained\(name, torch_dtype=torch\.float32\)",
            price=(half, single),
        )
