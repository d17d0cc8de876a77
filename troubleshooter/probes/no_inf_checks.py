"""Does the gradient scaler stop because no parameter of the optimizer has a gradient ("No inf checks were recorded")?"""

QUESTION = "Does a scaled step of an optimizer without gradients fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
print([name for name, p in model.named_parameters() if p.requires_grad and p.grad is None])     # after loss.backward()
"""


def run(kit):
    kit.expects("AssertionError", r"No inf checks were recorded")
    torch = kit.need("torch")
    if not hasattr(torch.amp, "GradScaler"):
        kit.undecided("this torch has no gradient scaler for a processor (%s)" % torch.__version__)

    def prepared(trained, scaled=True):
        model, other = torch.nn.Linear(8, 8).to(kit.device), torch.nn.Linear(8, 8).to(kit.device)
        scaler = torch.amp.GradScaler(kit.device, enabled=scaled)
        optimizer = torch.optim.SGD((model if trained else other).parameters(), lr=0.1)

        def step():
            loss = model(torch.randn(2, 8, device=kit.device)).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

        return step

    if kit.symptom("the optimizer holds other parameters than those that are trained", lambda: prepared(False)()):
        kit.fix(
            "right-parameters",
            "give the optimizer the parameters that get a gradient",
            lambda: prepared(True)(),
            words=r"optimizer holds parameters",
            price=(lambda: prepared(True, scaled=False), lambda: prepared(True)),
        )
