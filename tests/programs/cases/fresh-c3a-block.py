from peft import C3AConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), C3AConfig(block_size=5, target_modules=["q_proj"]))
