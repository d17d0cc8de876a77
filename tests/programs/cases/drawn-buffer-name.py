import torch

net = torch.nn.Linear(4, 4)
net.register_buffer("stats.mean", torch.zeros(4))
print(sorted(net.state_dict()))
