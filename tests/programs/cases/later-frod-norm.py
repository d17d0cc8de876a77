from peft import FrodConfig, get_peft_model
from tiny import model


get_peft_model(model(), FrodConfig(target_modules=["norm"]))
