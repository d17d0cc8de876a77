from peft import OFTConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), OFTConfig(r=4, oft_block_size=0, target_modules=["input_layernorm"]))
