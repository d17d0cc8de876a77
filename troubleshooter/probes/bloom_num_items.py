"""Does Bloom refuse the ``num_items_in_batch`` that the Trainer passes?"""

QUESTION = "Does Bloom refuse num_items_in_batch here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.46.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.47.1", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.50.3", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers import BloomConfig, BloomForCausalLM

model = BloomForCausalLM(BloomConfig(vocab_size=64, hidden_size=32, n_layer=1, n_head=2))
model(**batch, num_items_in_batch=16)       # what the Trainer does
"""


def run(kit):
    kit.expects("ValueError", r"Got unexpected arguments: \{'(?:num_items_in_batch|loss_kwargs)'")
    kit.need("torch")
    transformers = kit.need("transformers")

    def train(accepts=True):
        config = transformers.BloomConfig(vocab_size=128, hidden_size=32, n_layer=1, n_head=2)
        model = transformers.BloomForCausalLM(config).to(kit.device)
        trainer = transformers.Trainer(model=model, args=kit.training_arguments(max_steps=1), train_dataset=kit.rows(2))
        if not accepts:
            trainer.model_accepts_loss_kwargs = False
        trainer.train()

    if kit.symptom("one step of a tiny Bloom", train):
        kit.fix(
            "no-loss-kwargs",
            "trainer.model_accepts_loss_kwargs = False",
            lambda: train(False),
            words=r"model_accepts_loss_kwargs",
        )
