import torch

onehot = torch.zeros(4, 3)
labels = torch.tensor([0, 2, 1, 1])
onehot.scatter_(1, labels, 1.0)
print(onehot)
