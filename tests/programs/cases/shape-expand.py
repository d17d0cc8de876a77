import torch

mask = torch.ones(4, 7)
wide = mask.expand(4, 2, 7)
print(wide.shape)
