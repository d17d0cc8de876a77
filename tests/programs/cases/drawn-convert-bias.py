from peft import LoraConfig, convert_to_lora, get_peft_model
from tiny import model

net = get_peft_model(model(), LoraConfig(r=4, target_modules=["q_proj"], bias="lora_only"))
config, weights = convert_to_lora(net, rank=2)
print(len(weights))
