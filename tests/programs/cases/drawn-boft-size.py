from peft import BOFTConfig, get_peft_model
from tiny import model

net = get_peft_model(model(), BOFTConfig(boft_block_size=5, boft_n_butterfly_factor=1, target_modules=["q_proj"]))
net.print_trainable_parameters()
