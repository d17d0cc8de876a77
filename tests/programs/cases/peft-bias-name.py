from peft import LoraConfig, get_peft_model
from tiny import model

lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], bias="lora")
get_peft_model(model(), lora).print_trainable_parameters()
