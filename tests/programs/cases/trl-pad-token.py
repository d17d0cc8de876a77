from datasets import Dataset
from tiny import TEXTS, classifier, tokenizer
from trl import RewardConfig, RewardTrainer

args = RewardConfig("out", pad_token="[PAD]", max_steps=1, use_cpu=True, bf16=False, report_to="none")
data = Dataset.from_dict({"chosen": TEXTS, "rejected": TEXTS[::-1]})
RewardTrainer(classifier(num_labels=1), args=args, train_dataset=data, processing_class=tokenizer()).train()
