from peft import MissConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), MissConfig(r=2, target_modules=["embed_tokens"]))
