"""Does ``view`` fail on a tensor whose rows do not lie one after the other in memory?"""

QUESTION = "Does view() of a transposed or shifted tensor fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch
logits = torch.randn(2, 5, 8)
logits[..., :-1, :].view(-1, 8)     # .reshape(-1, 8) runs
"""


def run(kit):
    kit.expects("RuntimeError", r"view size is not compatible with (?:the )?input tensor's size and stride")
    torch = kit.need("torch")
    logits = torch.randn(2, 65, 64, device=kit.device)
    whole = torch.randn(2, 64, 64, device=kit.device)

    def loss(rows):
        return rows.pow(2).mean()

    if kit.symptom("logits[..., :-1, :].view(…)", lambda: loss(logits[..., :-1, :].view(-1, 64))):
        kit.fix(
            "reshape",
            "reshape instead of view",
            lambda: loss(logits[..., :-1, :].reshape(-1, 64)),
            words=r"reshape\(|contiguous\(\)",
            price=(lambda: lambda: loss(whole.view(-1, 64)), lambda: lambda: loss(logits[..., :-1, :].reshape(-1, 64))),
        )
