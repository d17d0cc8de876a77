from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import SFTConfig, SFTTrainer

rows = [{"text": text} for text in TEXTS]
args = SFTConfig("out", max_steps=1, use_cpu=True, bf16=False, report_to="none")
SFTTrainer(model(), args=args, train_dataset=rows, processing_class=tokenizer()).train()
