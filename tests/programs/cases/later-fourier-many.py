from peft import FourierFTConfig, get_peft_model
from tiny import model


get_peft_model(model(), FourierFTConfig(target_modules=["q_proj"], n_frequency=1000))
