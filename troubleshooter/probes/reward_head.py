"""Does PPO's reward fail on a causal language model, which has no score head?"""

QUESTION = "Does this trl's PPO fail on a reward model without a score head?"
NEEDS = ["torch", "transformers", "accelerate", "trl"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "trl": "0.15.2", "datasets": "3.6.0"}),
    ("confirmed", {"transformers": "4.53.3", "accelerate": "1.10.1", "trl": "0.19.1", "datasets": "3.6.0"}),
]
REPRODUCE = """
import torch, transformers
from trl.trainer.utils import get_reward    # what PPOTrainer calls

model = transformers.LlamaForCausalLM(transformers.LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=1))
get_reward(model, torch.ones(1, 8, dtype=torch.long), 0, 4)
"""


def run(kit):
    kit.expects("AttributeError", r"has no attribute '(?:score|base_model_prefix)'")
    torch, transformers = kit.need("torch", "transformers")
    kit.need("trl")
    try:
        from trl.trainer.utils import get_reward
    except ImportError:
        kit.undecided("this trl has no PPO")
    causal, queries = kit.llama(), torch.full((1, 8), 5, device=kit.device)

    def reward(model):
        return get_reward(model, queries, 0, 4)

    def classifier():
        config = transformers.LlamaConfig(**dict(causal.config.to_dict(), num_labels=1))
        return transformers.LlamaForSequenceClassification(config).to(kit.device)

    def function():
        return reward(lambda texts: [1.0 for _ in texts])

    kit.symptom("a Python function as the reward model", function)
    if kit.symptom("a causal language model as the reward model", lambda: reward(causal)):
        kit.fix(
            "classifier",
            "a sequence classifier with num_labels=1",
            lambda: reward(classifier()),
            words=r"AutoModelForSequenceClassification",
        )
