from datasets import Dataset
from tiny import TEXTS, model, tokenizer
from trl import KTOConfig, KTOTrainer

tokenizer().save_pretrained("tok")
data = Dataset.from_dict({"prompt": TEXTS, "completion": TEXTS, "label": [True, False] * 8})
args = KTOConfig("out", max_steps=1, use_cpu=True, bf16=False, report_to="none", per_device_train_batch_size=2)
KTOTrainer(model(), ref_model=model(), args=args, train_dataset=data, processing_class="tok").train()
