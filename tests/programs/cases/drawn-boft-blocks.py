from peft import BOFTConfig, get_peft_model
from tiny import model

blocks = 5
net = get_peft_model(model(), BOFTConfig(boft_block_size=0, boft_block_num=blocks, target_modules=["q_proj"]))
net.print_trainable_parameters()
