from peft import LoraConfig, XLoraConfig, get_peft_model
from tiny import model

get_peft_model(model(), LoraConfig(target_modules=["q_proj"], task_type="CAUSAL_LM")).save_pretrained("first")
base = model()
base.config.use_cache = False
get_peft_model(base, XLoraConfig(task_type="CAUSAL_LM", hidden_size=16, xlora_depth=0, adapters={"0": "first"}))
