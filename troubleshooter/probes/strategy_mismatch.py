"""Do load_best_model_at_end and unlike save and eval strategies stop TrainingArguments here?"""

QUESTION = "Does load_best_model_at_end refuse unlike save and eval strategies here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {"save": ["epoch", "steps", "no"], "evaluate": ["steps", "epoch", "no"]}
SETTLED_BY = ["save", "evaluate"]
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers import TrainingArguments
TrainingArguments("out", load_best_model_at_end=True, save_strategy="epoch", eval_strategy="steps")
"""


def run(kit):
    import inspect

    kit.expects("ValueError", r"load_best_model_at_end requires the sav(?:e|ing) and eval(?:uation)? strategy to match")
    kit.need("torch")
    from transformers import TrainingArguments

    known = inspect.signature(TrainingArguments.__init__).parameters
    key = "eval_strategy" if "eval_strategy" in known else "evaluation_strategy"

    save, evaluate = kit.options["save"], kit.options["evaluate"]

    def arguments(evaluate):
        # A step count that fits both: the strategies alone are in question.
        steps = dict(save_steps=10, eval_steps=10)
        kit.training_arguments(load_best_model_at_end=True, save_strategy=save, **{key: evaluate}, **steps)

    if kit.symptom(f"save by {save}, evaluate by {evaluate}", lambda: arguments(evaluate)):
        kit.fix(
            "same-strategy",
            "the same word for both strategies",
            lambda: arguments(save),
            words=r"eval(?:uation)?_strategy",
        )
