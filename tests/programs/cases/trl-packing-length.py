from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import SFTConfig, SFTTrainer

args = SFTConfig("out", packing=True, max_length=None, max_steps=1, use_cpu=True, bf16=False, report_to="none")
data = Dataset.from_dict({"text": TEXTS})
trainer = SFTTrainer(model(), args=args, train_dataset=data, processing_class=tokenizer())
trainer.train()
