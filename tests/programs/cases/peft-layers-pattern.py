from peft import LoraConfig, get_peft_model
from tiny import model

lora = LoraConfig(r=4, target_modules=["q_proj"], layers_pattern="layers")
get_peft_model(model(), lora).print_trainable_parameters()
