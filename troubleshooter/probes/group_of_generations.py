"""Does GRPO refuse a batch that is no multiple of num_generations?"""

QUESTION = "Does this trl refuse a GRPO batch that is no multiple of num_generations?"
NEEDS = ["torch", "transformers", "accelerate", "trl"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.53.3", "accelerate": "1.10.1", "trl": "0.19.1", "datasets": "3.6.0"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "trl": "1.16.0", "datasets": "3.6.0"}),
]
REPRODUCE = """
from trl import GRPOConfig

GRPOConfig(output_dir="out", per_device_train_batch_size=3, num_generations=8)
"""


def run(kit):
    kit.expects("ValueError", r"must be ?(?:evenly )?divisible by")
    _, trl = kit.need("torch", "trl")
    fixed = dict(output_dir=kit.folder, use_cpu=True, bf16=False, report_to=[], num_generations=8)

    def configured(**changes):
        return trl.GRPOConfig(**dict(fixed, **changes))

    if kit.symptom("3 completions a step, groups of 8", lambda: configured(per_device_train_batch_size=3)):
        kit.fix(
            "multiple",
            "8 x 2 completions, groups of 8",
            lambda: configured(per_device_train_batch_size=8, gradient_accumulation_steps=2),
            words=r"16 % 8 == 0",
        )
