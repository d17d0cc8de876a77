import torch

x = torch.randn(2, 3, 4)
flat = x.transpose(1, 2).view(2, -1)
print(flat.shape)
