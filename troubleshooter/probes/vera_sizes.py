"""Does VeRA refuse target layers of different dimensions?"""

QUESTION = "Does VeRA of this peft refuse layers of different dimensions?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"transformers": "4.45.2", "accelerate": "1.5.2", "peft": "0.11.1"}),
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2", "peft": "0.12.0"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
]
REPRODUCE = """
from peft import VeraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2)
get_peft_model(LlamaForCausalLM(config), VeraConfig(target_modules=["q_proj", "up_proj"]))
"""


def run(kit):
    kit.expects("ValueError", r"Multiple target layers with different dimensions were specified")
    _, peft = kit.need("torch", "peft")

    def adapt(*targets):
        return peft.get_peft_model(kit.llama(), peft.VeraConfig(r=4, target_modules=list(targets)))

    def step(model):
        ids = kit.rows(1)[0]["input_ids"][None]
        return kit.training_step(model, input_ids=ids, labels=ids)

    if kit.symptom("VeRA on q_proj (32 to 32) and up_proj (32 to 64)", lambda: adapt("q_proj", "up_proj")):
        kit.fix(
            "one-shape",
            "target layers of one shape",
            lambda: adapt("q_proj", "o_proj"),
            words=r'target_modules=\["q_proj", "o_proj"\]',
            price=(lambda: step(kit.llama()), lambda: step(adapt("q_proj", "o_proj"))),
        )
