import torch

net = torch.nn.Linear(4, 4)
optimizer = torch.optim.AdamW(net.parameters(), lr=-1e-4)
print(optimizer.defaults["lr"])
