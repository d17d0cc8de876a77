import torch

logits = torch.randn(4, 3)
labels = torch.tensor([1, 2, 3, 1])
print(torch.nn.functional.cross_entropy(logits, labels))
