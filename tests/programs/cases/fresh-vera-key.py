from peft import VeraConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), VeraConfig(r=2, target_modules=["q_proj"], projection_prng_key=1))
tuned.add_adapter("second", VeraConfig(r=2, target_modules=["q_proj"], projection_prng_key=2))
