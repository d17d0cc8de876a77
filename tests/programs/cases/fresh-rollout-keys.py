from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import GRPOConfig, GRPOTrainer


def rollout(prompts, trainer):
    return {"prompt_ids": [[4]] * len(prompts), "completion_ids": [[5]] * len(prompts)}


args = GRPOConfig("out", max_steps=1, use_cpu=True, bf16=False, report_to="none", per_device_train_batch_size=2, num_generations=2)
data = Dataset.from_dict({"prompt": TEXTS})
GRPOTrainer(model(), lambda completions, **rest: [1.0] * len(completions), args=args, train_dataset=data,
            processing_class=tokenizer(), rollout_func=rollout).train()
