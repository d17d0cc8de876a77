"""Does a tensor of torch.inference_mode refuse to be changed in place after the block?"""

QUESTION = "Does an in-place change of an inference tensor fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch

with torch.inference_mode():
    total = torch.nn.Linear(4, 1)(torch.ones(2, 4)).sum()
total /= 2                              # total = total / 2 runs
"""


def run(kit):
    kit.expects("RuntimeError", r"Inplace update to (?:an )?inference tensor outside InferenceMode")
    torch = kit.need("torch")
    model, batch = torch.nn.Linear(64, 64).to(kit.device), torch.ones(64, 64, device=kit.device)

    def summed(mode, number=False):
        with mode():
            loss = model(batch).sum()
            return loss.item() if number else loss

    def in_place(mode, number=False):
        total = summed(mode, number)
        total /= 2
        return total

    def outside():
        total = summed(torch.inference_mode)
        total = total / 2
        return total

    def before():
        return lambda: summed(torch.inference_mode)

    if kit.symptom("a summed loss divided in place after the block", lambda: in_place(torch.inference_mode)):
        kit.fix(
            "not-in-place",
            "total = total / n",
            outside,
            words=r"test_loss = test_loss /",
            price=(before, lambda: outside),
        )
        kit.fix(
            "numbers",
            "sum Python numbers: loss.item()",
            lambda: in_place(torch.inference_mode, number=True),
            words=r"loss_fn\(model\(X\), y\)\.item\(\)",
            price=(before, lambda: lambda: in_place(torch.inference_mode, number=True)),
        )
        kit.fix(
            "no-grad",
            "torch.no_grad() instead of torch.inference_mode()",
            lambda: in_place(torch.no_grad),
            words=r"with torch\.no_grad\(\)",
            price=(before, lambda: lambda: in_place(torch.no_grad)),
        )
