from peft import BOFTConfig, get_peft_model
from tiny import model

config = BOFTConfig(boft_block_size=4, target_modules=["q_proj"], init_weights="orthogonal")
tuned = get_peft_model(model(), config)
