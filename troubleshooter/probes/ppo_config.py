"""Does this trl's PPOConfig refuse an argument of the PPO interface before 0.12?"""

QUESTION = "Does this trl have the rewritten PPO, which refuses the old arguments?"
NEEDS = ["torch", "transformers", "accelerate", "trl"]
PARAMETERS = {"argument": ["ppo_epochs", "model_name", "init_kl_coef", "log_with", "target_kl", "steps"]}
DEVICES = ["cpu"]
SETTLED_BY = []
PAIRS = [
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2", "trl": "0.11.4", "datasets": "3.6.0"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "trl": "0.15.2", "datasets": "3.6.0"}),
    ("confirmed", {"transformers": "4.53.3", "accelerate": "1.10.1", "trl": "0.19.1", "datasets": "3.6.0"}),
]
REPRODUCE = """
from trl import PPOConfig

PPOConfig({argument}=1)
"""


def run(kit):
    argument = kit.options["argument"]
    kit.expects("TypeError", r"unexpected keyword argument '%s'" % argument)
    _, trl = kit.need("torch", "trl")
    if not hasattr(trl, "PPOConfig"):
        kit.undecided("this trl (%s) has no PPO" % trl.__version__)
    values = {"model_name": "tiny", "log_with": None}

    def configured(made, **arguments):
        return made(**arguments)

    if kit.symptom(
        "PPOConfig(%s=…)" % argument, lambda: configured(trl.PPOConfig, **{argument: values.get(argument, 1)})
    ):
        kit.fix(
            "new-names",
            "the arguments of the new PPOConfig",
            lambda: configured(
                trl.PPOConfig, output_dir=kit.folder, num_ppo_epochs=1, use_cpu=True, bf16=False, report_to=[]
            ),
            words=r"args=PPOConfig\(output_dir",
        )
        kit.fix(
            "grpo",
            "GRPOConfig for GRPOTrainer",
            lambda: configured(trl.GRPOConfig, output_dir=kit.folder, use_cpu=True, bf16=False, report_to=[]),
            words=r"GRPOTrainer\(model=name",
        )
