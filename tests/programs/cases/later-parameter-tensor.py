import torch

net = torch.nn.Linear(2, 2)
net.register_parameter("scale", torch.ones(2))
