from transformers import TrainingArguments

args = TrainingArguments(
    "out", use_cpu=True, eval_strategy="steps", eval_steps=30, save_strategy="steps", save_steps=50, load_best_model_at_end=True
)
print(args.save_steps)
