import os

from tiny import TEXTS, model, tokenizer
from transformers import Trainer, TrainingArguments

tok = tokenizer()
epochs = os.environ.get("EPOCHS", "1")
rows = [{"input_ids": tok(t)["input_ids"][:3], "labels": tok(t)["input_ids"][:3]} for t in TEXTS]
args = TrainingArguments("out", num_train_epochs=epochs, use_cpu=True, report_to="none")
Trainer(model(), args, train_dataset=rows).train()
