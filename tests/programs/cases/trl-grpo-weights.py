from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import GRPOConfig, GRPOTrainer


def short(completions, **kwargs):
    return [-float(len(c)) for c in completions]


args = GRPOConfig("out", reward_weights=[1.0, 0.5], num_generations=2, per_device_train_batch_size=2, max_steps=1,
                  max_completion_length=4, use_cpu=True, bf16=False, report_to="none")
data = Dataset.from_dict({"prompt": TEXTS})
GRPOTrainer(model(), reward_funcs=[short], args=args, train_dataset=data, processing_class=tokenizer()).train()
