import torch

hidden = torch.randn(2, 5, 8)
mask = torch.ones(2, 4, dtype=torch.bool)
print(hidden[mask].shape)
