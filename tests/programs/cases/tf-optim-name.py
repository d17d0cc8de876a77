from transformers import TrainingArguments

args = TrainingArguments("out", optim="adam", learning_rate=1e-4, use_cpu=True)
print(args.optim)
