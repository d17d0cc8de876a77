import torch

net = torch.nn.Sequential(torch.nn.Linear(2, 2))
net.head = torch.nn.Linear(2, 1)
net.head = torch.ones(2)
