import torch
from torch.utils.data import TensorDataset, random_split

data = TensorDataset(torch.randn(10, 2))
train, test = random_split(data, [8, 3])
print(len(train), len(test))
