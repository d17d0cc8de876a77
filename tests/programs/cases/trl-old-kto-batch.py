from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import KTOConfig, KTOTrainer

data = Dataset.from_dict({"prompt": TEXTS, "completion": TEXTS, "label": [True, False] * 8})
args = KTOConfig("out", per_device_train_batch_size=1, max_steps=1, use_cpu=True, bf16=False, report_to="none")
KTOTrainer(model(), args=args, train_dataset=data, processing_class=tokenizer()).train()
