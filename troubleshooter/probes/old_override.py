"""Does a Trainer's method that is overridden as an older transformers called it fail here?"""

QUESTION = "Does this transformers call the overridden Trainer method with more arguments than its older form takes?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {"method": ["training_step", "log", "get_batch_samples", "_get_train_sampler"]}
SETTLED_BY = ["method"]
PAIRS = [
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.46.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
    ("not-here", {"transformers": "4.46.3", "accelerate": "1.5.2"}, {"method": "log"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}, {"method": "log"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}, {"method": "get_batch_samples"}),
    ("not-here", {"transformers": "4.51.3", "accelerate": "1.5.2"}, {"method": "_get_train_sampler"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}, {"method": "_get_train_sampler"}),
]
REPRODUCE = """
class MyTrainer(transformers.Trainer):
    def training_step(self, model, inputs):             # {method}, as it was before
        return super().training_step(model, inputs)
"""


def run(kit):
    method = kit.options["method"]
    kit.expects("TypeError", method + r"\(\) takes (?:from )?[0-9 to]+ positional arguments? but \d+ were given")
    kit.need("torch")
    transformers = kit.need("transformers")

    def overridden(**added):
        own = type("MyTrainer", (transformers.Trainer,), {})
        above = getattr(transformers.Trainer, method)
        old = dict(
            training_step=lambda self, model, inputs: above(self, model, inputs),
            log=lambda self, logs: above(self, logs),
            get_batch_samples=lambda self, epoch_iterator, num_batches: above(self, epoch_iterator, num_batches),
            _get_train_sampler=lambda self: above(self),
        )[method]

        def new(self, *given):
            return above(self, *given)

        old.__name__ = old.__qualname__ = method
        setattr(own, method, new if added else old)
        return own

    def train(kind):
        kind(model=kit.llama(), args=kit.training_arguments(max_steps=1), train_dataset=kit.rows(2)).train()

    if kit.symptom("the older form of %s" % method, lambda: train(overridden())):
        kit.fix(
            "passed-on",
            "take and pass on the new argument",
            lambda: train(overridden(new=True)),
            words=r"num_items_in_batch=None",
        )
