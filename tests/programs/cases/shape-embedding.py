import torch

table = torch.nn.Embedding(50, 8)
ids = torch.tensor([[1, 49, 50]])
print(table(ids).shape)
