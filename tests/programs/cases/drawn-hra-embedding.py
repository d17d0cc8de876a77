from peft import HRAConfig, get_peft_model
from tiny import model

net = get_peft_model(model(), HRAConfig(r=2, target_modules=["q_proj", "embed_tokens"]))
net.print_trainable_parameters()
