from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import DistillationConfig, DistillationTrainer

args = DistillationConfig("out", max_steps=1, use_cpu=True, bf16=False, report_to="none", teacher_model_init_kwargs={"dtype": "float32"})
rows = Dataset.from_list([{"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}]} for text in TEXTS])
DistillationTrainer(model(), teacher_model=model(), args=args, train_dataset=rows, processing_class=tokenizer())
