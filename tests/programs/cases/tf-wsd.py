from tiny import TEXTS, model, tokenizer
from transformers import Trainer, TrainingArguments

tok = tokenizer()
rows = [{"input_ids": tok(t)["input_ids"][:3], "labels": tok(t)["input_ids"][:3]} for t in TEXTS]
args = TrainingArguments("out", lr_scheduler_type="warmup_stable_decay", max_steps=1, use_cpu=True, report_to="none")
Trainer(model(), args, train_dataset=rows).train()
