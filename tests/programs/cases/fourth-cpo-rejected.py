from datasets import Dataset
from tiny import model, tokenizer
from trl import CPOConfig, CPOTrainer

rows = Dataset.from_dict({"prompt": ["who"] * 4, "chosen": ["the cat"] * 4, "rejected": [["a dog"]] * 4})
args = CPOConfig("out", use_cpu=True, bf16=False, max_steps=1, report_to=[], max_length=32, max_prompt_length=16)
trainer = CPOTrainer(model(), args=args, train_dataset=rows, processing_class=tokenizer())
