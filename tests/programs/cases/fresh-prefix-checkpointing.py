from peft import PrefixTuningConfig, get_peft_model
from tiny import model

base = model()
base.gradient_checkpointing_enable()
tuned = get_peft_model(base, PrefixTuningConfig(num_virtual_tokens=2, task_type="CAUSAL_LM"))
