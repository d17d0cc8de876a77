from peft import LoraConfig, get_peft_model
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.ModuleList([nn.Linear(4, 4)]))
tuned = get_peft_model(net, LoraConfig(r=2, target_modules=["0"], modules_to_save=["1"]))
