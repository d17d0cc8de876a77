import torch

left = torch.randn(4, 8)
right = torch.randn(4, 6)
joined = torch.cat([left, right])
print(joined.shape)
