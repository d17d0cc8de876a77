from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import GRPOConfig, GRPOTrainer


def reward(completions, **rest):
    return [1.0]


args = GRPOConfig("out", max_steps=1, use_cpu=True, bf16=False, report_to="none", per_device_train_batch_size=2, num_generations=2, max_completion_length=4)
GRPOTrainer(model(), reward, args=args, train_dataset=Dataset.from_dict({"prompt": TEXTS}), processing_class=tokenizer()).train()
