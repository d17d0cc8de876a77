"""Does the Trainer call an overridden compute_loss with an argument that its old signature does not take?"""

QUESTION = "Does the Trainer pass num_items_in_batch to a compute_loss written for older versions?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.46.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers import Trainer

class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):        # add: , **kwargs
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss
"""


def run(kit):
    kit.expects("TypeError", r"compute_loss\(\) got an unexpected keyword argument 'num_items_in_batch'")
    kit.need("torch")
    transformers = kit.need("transformers")

    class Old(transformers.Trainer):
        def compute_loss(self, model, inputs, return_outputs=False):
            outputs = model(**inputs)
            return (outputs.loss, outputs) if return_outputs else outputs.loss

    class New(transformers.Trainer):
        def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
            outputs = model(**inputs)
            return (outputs.loss, outputs) if return_outputs else outputs.loss

    def train(trainer):
        trainer(model=kit.llama(), args=kit.training_arguments(max_steps=1), train_dataset=kit.rows(2)).train()

    kit.say("one step with the old signature")
    if kit.symptom("compute_loss(self, model, inputs, return_outputs=False)", lambda: train(Old)):
        kit.fix(
            "kwargs",
            "add **kwargs (or num_items_in_batch=None) to compute_loss",
            lambda: train(New),
            words=r"\*\*kwargs|num_items_in_batch\s*=",
        )
