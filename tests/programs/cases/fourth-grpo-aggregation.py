from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import GRPOConfig, GRPOTrainer


def short(completions, **more):
    return [-float(len(one)) for one in completions]


args = GRPOConfig(
    "out", use_cpu=True, bf16=False, max_steps=1, report_to=[], per_device_train_batch_size=4, num_generations=4,
    max_completion_length=4, multi_objective_aggregation="mean",
)
rows = Dataset.from_dict({"prompt": TEXTS})
GRPOTrainer(model(), short, args=args, train_dataset=rows, processing_class=tokenizer()).train()
