from datasets import Dataset
from peft import LoraConfig, get_peft_model
from tiny import TEXTS, model, tokenizer
from trl import DPOConfig, DPOTrainer

lora = LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
policy = get_peft_model(model(), lora)
data = Dataset.from_dict({"prompt": TEXTS, "chosen": TEXTS, "rejected": TEXTS[::-1]})
args = DPOConfig("out", max_steps=1, use_cpu=True, bf16=False, report_to="none", per_device_train_batch_size=2)
DPOTrainer(policy, args=args, train_dataset=data, processing_class=tokenizer(), peft_config=lora).train()
