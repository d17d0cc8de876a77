from peft import IA3Config, LoraConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), LoraConfig(target_modules=["q_proj"]))
tuned.add_adapter("second", IA3Config(target_modules=["k_proj"], feedforward_modules=[]))
