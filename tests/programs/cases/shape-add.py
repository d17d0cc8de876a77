import torch

scores = torch.randn(4, 6)
weights = torch.randn(4)
print(scores * weights)
