from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import SFTConfig, SFTTrainer

args = SFTConfig("out", assistant_only_loss=True, max_steps=1, use_cpu=True, bf16=False, report_to="none")
data = Dataset.from_dict({"text": TEXTS})
SFTTrainer(model(), args=args, train_dataset=data, processing_class=tokenizer()).train()
