import torch
from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import SFTConfig, SFTTrainer


def collate(rows):
    ids = torch.tensor([row["input_ids"][:3] for row in rows])
    return {"input_ids": ids, "labels": ids}


args = SFTConfig("out", max_steps=1, use_cpu=True, bf16=False, report_to="none")
data = Dataset.from_dict({"text": TEXTS})
SFTTrainer(model(), args=args, train_dataset=data, processing_class=tokenizer(), data_collator=collate).train()
