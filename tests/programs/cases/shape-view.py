import torch

x = torch.randn(2, 5, 12)
heads = x.view(2, 5, 5, -1)
print(heads.shape)
