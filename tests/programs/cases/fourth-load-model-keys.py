import torch
from safetensors.torch import load_model, save_file

net = torch.nn.Sequential(torch.nn.Linear(2, 2))
save_file({f"model.{name}": value for name, value in net.state_dict().items()}, "net.safetensors")
load_model(net, "net.safetensors")
