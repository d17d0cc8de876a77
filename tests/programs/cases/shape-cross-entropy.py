import torch

logits = torch.randn(2, 5, 10)
labels = torch.randint(0, 10, (2, 5))
loss = torch.nn.functional.cross_entropy(logits, labels)
print(loss)
