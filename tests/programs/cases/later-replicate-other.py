from torch import nn
from peft import LoraConfig, get_peft_model

net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
get_peft_model(net, LoraConfig(target_modules=["0"], layer_replication=[(0, 1), (0, 1)]))
