from peft import OFTConfig, get_peft_model
from tiny import model

net = get_peft_model(model(), OFTConfig(r=4, oft_block_size=4, target_modules=["q_proj"]))
net.print_trainable_parameters()
