import torch

scores = torch.randn(4, 6)
print(torch.softmax(scores, dim=2).shape)
