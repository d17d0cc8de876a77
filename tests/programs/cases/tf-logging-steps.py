from transformers import TrainingArguments

args = TrainingArguments("out", logging_steps=0, max_steps=4, use_cpu=True, report_to="none")
print(args.logging_steps)
