import torch

encoder = torch.nn.Linear(16, 8)
head = torch.nn.Linear(16, 2)
x = torch.randn(4, 16)
hidden = torch.relu(encoder(x))
print(head(hidden))
