from peft import LoraConfig, get_peft_model
from tiny import model

ranks = {"small": 0, "large": 16}
lora = LoraConfig(r=ranks["small"], target_modules=["q_proj"])
get_peft_model(model(), lora).print_trainable_parameters()
