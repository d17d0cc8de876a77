from datasets import Dataset
from transformers import Trainer, TrainingArguments
from trl import LogCompletionsCallback
from tiny import TEXTS, model, tokenizer

args = TrainingArguments("out", use_cpu=True, report_to=[])
rows = Dataset.from_dict({"prompt": TEXTS})
trainer = Trainer(model(), args, train_dataset=rows, processing_class=tokenizer())
trainer.add_callback(LogCompletionsCallback(trainer))
