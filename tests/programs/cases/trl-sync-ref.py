from datasets import Dataset
from peft import LoraConfig
from tiny import TEXTS, model, tokenizer
from trl import KTOConfig, KTOTrainer

data = Dataset.from_dict({"prompt": TEXTS, "completion": TEXTS, "label": [True, False] * 8})
args = KTOConfig("out", sync_ref_model=True, max_steps=1, use_cpu=True, bf16=False, report_to="none", per_device_train_batch_size=2)
lora = LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
KTOTrainer(model(), args=args, train_dataset=data, processing_class=tokenizer(), peft_config=lora).train()
