import torch

rows = [torch.tensor([1, 2, 3]), torch.tensor([4, 5])]
batch = torch.stack(rows)
print(batch.shape)
