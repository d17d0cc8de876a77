from peft import PveraConfig, get_peft_model
from tiny import model


get_peft_model(model(), PveraConfig(target_modules=["norm"]))
