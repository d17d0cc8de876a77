import torch

layer = torch.nn.MultiheadAttention(30, 4, batch_first=True)
x = torch.randn(2, 5, 30)
print(layer(x, x, x)[0].shape)
