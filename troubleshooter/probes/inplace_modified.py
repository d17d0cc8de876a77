"""Does backward stop because a saved tensor was changed in place after the forward?"""

QUESTION = "Does backward notice a change in place here?"
NEEDS = ["torch"]
PARAMETERS = {"where": ["optimizer", "activation"]}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"}), ("confirmed", {"torch": "2.13.0"}, {"where": "activation"})]
REPRODUCE = """
torch.autograd.set_detect_anomaly(True)     # the traceback then shows the forward line whose result was changed
"""


def run(kit):
    kit.expects("RuntimeError", r"modified by an inplace operation")
    torch = kit.need("torch")
    x = torch.randn(4, 8, device=kit.device)

    def network():
        return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)).to(kit.device)

    def losses(together):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        out = model(x)
        first, second = out.sum(), out.pow(2).sum()
        first.backward(retain_graph=True)
        if not together:
            optimizer.step()
        second.backward()
        optimizer.step()

    def activation(copied):
        hidden = torch.sigmoid(network()(x))
        hidden = hidden + 1 if copied else hidden.add_(1)
        hidden.sum().backward()

    if kit.options["where"] == "optimizer":
        if kit.symptom("optimizer.step() between two backward calls", lambda: losses(False)):
            kit.fix(
                "backward-first",
                "all backward calls before step()",
                lambda: losses(True),
                words=r"loss_a\.backward\(\); loss_b",
            )
    elif kit.symptom("an activation changed in place", lambda: activation(False)):
        kit.fix(
            "copy",
            "x = x + y, not x += y",
            lambda: activation(True),
            words=r"x = x \+ y",
            price=(lambda: lambda: torch.sigmoid(x).add_(1), lambda: lambda: torch.sigmoid(x) + 1),
        )
