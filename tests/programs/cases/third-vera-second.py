from peft import VeraConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), VeraConfig(r=4, target_modules=["q_proj"]))
tuned.add_adapter("second", VeraConfig(r=8, target_modules=["q_proj"]))
