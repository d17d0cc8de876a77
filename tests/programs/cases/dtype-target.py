import torch

logits = torch.randn(4, 3)
labels = torch.tensor([0, 2, 1, 1], dtype=torch.int32)
print(torch.nn.functional.cross_entropy(logits, labels))
