import torch

table = torch.nn.Embedding(100, 8, padding_idx=100)
print(table(torch.tensor([1, 2])).shape)
