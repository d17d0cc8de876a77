from peft import AdaLoraConfig, get_peft_model
from tiny import model

lora = AdaLoraConfig(init_r=8, target_r=4, target_modules=["q_proj"])
get_peft_model(model(), lora).print_trainable_parameters()
