from datasets import Dataset
from tiny import model, tokenizer
from trl import DPOConfig, DPOTrainer

rows = Dataset.from_dict({"prompt": ["who"] * 4, "chosen": ["the cat"] * 4, "rejected": ["a dog"] * 4})
args = DPOConfig("out", use_cpu=True, bf16=False, max_steps=1, report_to=[], loss_type=["simpo"])
trainer = DPOTrainer(model(), ref_model=model(), args=args, train_dataset=rows, processing_class=tokenizer())
trainer.train()
