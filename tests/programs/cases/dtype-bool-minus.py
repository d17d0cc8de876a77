import torch

mask = torch.tensor([True, False, True])
print(1 - mask)
