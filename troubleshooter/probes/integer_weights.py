"""Does marking integer (quantized) weights as trainable fail?"""

QUESTION = "Does requires_grad on integer weights fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
print([name for name, p in model.named_parameters() if not p.is_floating_point()])      # quantized: they must stay frozen
"""


def run(kit):
    kit.expects("RuntimeError", r"[Oo]nly Tensors of floating point(?: and complex)? dtype can require gradients")
    torch = kit.need("torch")

    class Quantized(torch.nn.Module):
        def __init__(self):
            super().__init__()
            packed = torch.zeros(8, 8, dtype=torch.uint8)
            self.weight = torch.nn.Parameter(packed, requires_grad=False)
            self.lora_a = torch.nn.Linear(8, 2)

    def every():
        for parameter in Quantized().to(kit.device).parameters():
            parameter.requires_grad = True

    def adapters():
        for name, parameter in Quantized().to(kit.device).named_parameters():
            parameter.requires_grad = parameter.is_floating_point() and "lora_" in name

    if kit.symptom("every parameter of a quantized layer set trainable", every):
        kit.fix("adapters-only", "only floating-point adapter weights", adapters, words=r"is_floating_point\(\)")
