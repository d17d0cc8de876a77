import torch
from torch.utils.data import TensorDataset

features = torch.randn(10, 3)
labels = torch.arange(9)
data = TensorDataset(features, labels)
print(len(data))
