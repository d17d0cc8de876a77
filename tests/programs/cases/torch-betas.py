import torch

net = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, betas=(0.9, 1.0))
print(optimizer.defaults["betas"])
