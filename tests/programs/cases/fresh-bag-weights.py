import torch
from torch.nn import functional as F

table = torch.randn(5, 3)
ids = torch.tensor([[0, 1], [2, 3]])
F.embedding_bag(ids, table, per_sample_weights=torch.ones(2, 2), mode="mean")
