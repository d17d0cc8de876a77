from tiny import TEXTS, model, tokenizer
from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

tok = tokenizer()
rows = [tok(t, return_token_type_ids=False) for t in TEXTS]
collator = DataCollatorForLanguageModeling(tok)
args = TrainingArguments("out", max_steps=1, use_cpu=True, report_to="none")
Trainer(model(), args, train_dataset=rows, data_collator=collator).train()
