from tiny import TEXTS, model, tokenizer
from transformers import Trainer, TrainingArguments

tok = tokenizer()
rows = [{"input_ids": tok(t)["input_ids"][:3], "labels": tok(t)["input_ids"][:3]} for t in TEXTS]
args = TrainingArguments("out", max_steps=1, use_cpu=True, report_to="none")
trainer = Trainer(model(), args, train_dataset=rows, eval_dataset=rows)
if trainer.model_init is None or True:
    best = trainer.hyperparameter_search(n_trials=1, backend=None)
