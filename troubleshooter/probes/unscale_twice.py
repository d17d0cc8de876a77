"""Does the gradient scaler refuse a second unscale_ before its update?"""

QUESTION = "Does a second unscale_() before scaler.update() fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch

model, scaler = torch.nn.Linear(4, 4), torch.amp.GradScaler("cpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler.scale(model(torch.ones(2, 4)).sum()).backward()
scaler.unscale_(optimizer)
scaler.unscale_(optimizer)              # the second clipping
"""


def run(kit):
    kit.expects("RuntimeError", r"unscale_\(\) has already been called on this optimizer since the last update")
    torch = kit.need("torch")
    if not hasattr(torch.amp, "GradScaler"):
        kit.undecided("this torch has no gradient scaler for a processor (%s)" % torch.__version__)

    def prepared(clips, update=True, skipped=False):
        model = torch.nn.Linear(64, 64).to(kit.device)
        scaler = torch.amp.GradScaler(kit.device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step():
            scaler.scale(model(torch.ones(8, 64, device=kit.device)).sum()).backward()
            for _ in range(clips):
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if not skipped:
                scaler.step(optimizer)
            if update:
                scaler.update()
            optimizer.zero_grad()

        return step

    def twice(step):
        step()
        step()

    def once():
        return prepared(1)

    kit.symptom(
        "a step that was skipped together with update()", lambda: twice(prepared(1, update=False, skipped=True))
    )
    if kit.symptom("two clippings in one step", lambda: prepared(2)()):
        kit.fix(
            "once-and-update",
            "clip once, and update() also where the step is skipped",
            lambda: (twice(once()), twice(prepared(1, skipped=True))),
            words=r"scaler\.update\(\)\s+# outside of the if",
            price=(lambda: prepared(0), once),
        )
