from peft import LoraConfig, get_peft_model
from tiny import model

net = get_peft_model(model(), LoraConfig(r=4, target_modules=["q_proj"]))
net.add_adapter("french", LoraConfig(r=4, target_modules=["q_proj"]))
net.set_adapter("french_v2")
net.print_trainable_parameters()
