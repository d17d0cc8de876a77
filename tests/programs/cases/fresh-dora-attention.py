from peft import LoraConfig, get_peft_model
from torch import nn

layer = nn.ModuleDict({"attention": nn.MultiheadAttention(8, 2)})
tuned = get_peft_model(layer, LoraConfig(r=2, target_modules=["attention"], use_dora=True))
