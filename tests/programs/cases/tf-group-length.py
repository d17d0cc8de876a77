from tiny import TEXTS, model, tokenizer
from transformers import Trainer, TrainingArguments

tok = tokenizer()


def collate(rows):
    batch = tok([row["text"] for row in rows], padding=True, return_tensors="pt", return_token_type_ids=False)
    return {**batch, "labels": batch["input_ids"]}


args = TrainingArguments("out", group_by_length=True, remove_unused_columns=False, max_steps=1, use_cpu=True, report_to="none")
Trainer(model(), args, train_dataset=[{"text": t} for t in TEXTS], data_collator=collate).train()
