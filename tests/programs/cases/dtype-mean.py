import torch

lengths = torch.tensor([3, 4, 9])
print(lengths.mean())
