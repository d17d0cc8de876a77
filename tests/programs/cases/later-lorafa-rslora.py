import torch
from peft import LoraConfig, get_peft_model
from peft.optimizers import create_lorafa_optimizer
from tiny import model

tuned = get_peft_model(model(), LoraConfig(target_modules=["q_proj"], use_rslora=True))
create_lorafa_optimizer(tuned, r=8, lora_alpha=8, lr=1e-3, use_rslora=False)
