from tiny import TEXTS, model, tokenizer
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments

tok = tokenizer()
rows = [{"input_ids": tok(t)["input_ids"][:3], "labels": tok(t)["input_ids"][:3]} for t in TEXTS]
args = TrainingArguments("out", eval_strategy="steps", eval_steps=1, save_steps=1, max_steps=2, use_cpu=True, report_to="none")
Trainer(model(), args, train_dataset=rows, eval_dataset=rows, callbacks=[EarlyStoppingCallback(2)]).train()
