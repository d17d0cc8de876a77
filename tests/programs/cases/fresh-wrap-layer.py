import os

from peft import LoraConfig, get_peft_model
from peft.utils.other import fsdp_auto_wrap_policy
from tiny import model

os.environ["FSDP_TRANSFORMER_CLS_TO_WRAP"] = "LlamaLayer"
fsdp_auto_wrap_policy(get_peft_model(model(), LoraConfig(target_modules=["q_proj"])))
