import torch
from torch.nn.utils._per_sample_grad import call_for_per_sample_grads

words = torch.nn.Embedding(10, 4)
out = call_for_per_sample_grads(words, batch_size=3)(torch.tensor([1, 2, 3]))
out.sum().backward()
