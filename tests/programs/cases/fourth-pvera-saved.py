from peft import PveraConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), PveraConfig(r=4, target_modules=["q_proj"]))
tuned.add_adapter("small", PveraConfig(r=4, target_modules=["q_proj"], save_projection=False))
