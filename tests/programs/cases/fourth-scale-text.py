import os

from peft import LoraConfig, get_peft_model
from peft.helpers import rescale_adapter_scale
from tiny import model

tuned = get_peft_model(model(), LoraConfig(target_modules=["q_proj"]))
with rescale_adapter_scale(tuned, os.environ.get("SCALE", "0.5")):
    print(tuned.peft_config)
