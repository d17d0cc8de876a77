import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=2, num_workers=0, prefetch_factor=4)
print(len(loader))
