from peft import LoraConfig, get_peft_model
from tiny import model


get_peft_model(model(), LoraConfig(target_modules=["q_proj"], bias="some"), mixed=True)
