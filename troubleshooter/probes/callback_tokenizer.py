"""Does a callback that reads ``kwargs["tokenizer"]`` fail, as the Trainer hands it over under another name?"""

QUESTION = "Does the Trainer no longer hand `tokenizer` to callbacks here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.46.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
def on_step_end(self, args, state, control, **kwargs):      # in the callback
    print(sorted(kwargs))                                   # is `tokenizer` among them?
"""


def run(kit):
    kit.expects("KeyError", r"^'tokenizer'$")
    kit.need("torch")
    transformers = kit.need("transformers")

    class Old(transformers.TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            kwargs["tokenizer"]

    class New(transformers.TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            kwargs.get("processing_class") or kwargs.get("tokenizer")

    def train(callback):
        arguments = kit.training_arguments(max_steps=1)
        transformers.Trainer(
            model=kit.llama(), args=arguments, train_dataset=kit.rows(2), callbacks=[callback()]
        ).train()

    if kit.symptom('a callback with kwargs["tokenizer"]', lambda: train(Old)):
        kit.fix("both-names", 'kwargs.get("processing_class")', lambda: train(New), words=r"processing_class")
