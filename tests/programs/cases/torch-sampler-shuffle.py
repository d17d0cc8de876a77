import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

data = TensorDataset(torch.randn(8, 2))
loader = DataLoader(data, batch_size=2, shuffle=True, sampler=RandomSampler(data))
print(len(loader))
