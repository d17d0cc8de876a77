from peft import AutoPeftModelForSequenceClassification, LoraConfig, get_peft_model
from tiny import model

base = model()
base.save_pretrained("base")
base = type(base).from_pretrained("base")
get_peft_model(base, LoraConfig(target_modules=["q_proj"], task_type="CAUSAL_LM")).save_pretrained("adapter")
AutoPeftModelForSequenceClassification.from_pretrained("adapter")
