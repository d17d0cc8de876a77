from datasets import Dataset
from tiny import TEXTS, config, tokenizer
from transformers import LlamaModel, Trainer, TrainingArguments

rows = Dataset.from_dict({"text": TEXTS}).map(lambda row: tokenizer()(row["text"], padding="max_length", max_length=8))
rows = rows.map(lambda row: {"labels": row["input_ids"]}).remove_columns("text")
trainer = Trainer(LlamaModel(config()), TrainingArguments("out", use_cpu=True, max_steps=1, report_to=[]), train_dataset=rows)
trainer.train()
