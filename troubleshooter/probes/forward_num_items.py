"""Does the Trainer pass ``num_items_in_batch`` to a wrapper whose inner model does not take it?"""

QUESTION = "Does a model whose forward passes everything on fail on num_items_in_batch here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.50.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
def forward(self, input_ids=None, labels=None, **kwargs):
    return self.inner(input_ids, labels, **kwargs)      # print(kwargs): num_items_in_batch is among them
"""


def run(kit):
    kit.expects("TypeError", r"unexpected keyword argument 'num_items_in_batch'")
    torch, transformers = kit.need("torch", "transformers")

    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = torch.nn.Embedding(128, 8), torch.nn.Linear(8, 128)

        def forward(self, input_ids, labels, attention_mask=None):
            return {
                "loss": torch.nn.functional.cross_entropy(
                    self.head(self.embed(input_ids)).flatten(0, 1), labels.flatten()
                )
            }

    class Wrapper(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, input_ids=None, labels=None, **loss_kwargs):  # 4.46 asks for this name, later ones for any
            return self.inner(input_ids, labels, **loss_kwargs)

    class Dropping(Wrapper):
        def forward(self, input_ids=None, labels=None, num_items_in_batch=None, **kwargs):
            return self.inner(input_ids, labels, **kwargs)

    def train(model, accepts=True):
        arguments = kit.training_arguments(max_steps=1)
        trainer = transformers.Trainer(model=model.to(kit.device), args=arguments, train_dataset=kit.rows(2))
        if not accepts:
            trainer.model_accepts_loss_kwargs = False
        trainer.train()

    if kit.symptom("forward(input_ids, labels, **loss_kwargs)", lambda: train(Wrapper())):
        kit.fix(
            "drop",
            "forward(…, num_items_in_batch=None, **kwargs)",
            lambda: train(Dropping()),
            words=r"def forward\(.*num_items",
        )
        kit.fix(
            "no-loss-kwargs",
            "trainer.model_accepts_loss_kwargs = False",
            lambda: train(Wrapper(), False),
            words=r"model_accepts_loss_kwargs",
        )
