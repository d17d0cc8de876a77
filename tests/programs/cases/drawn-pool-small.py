import torch

pool = torch.nn.Sequential(torch.nn.MaxPool2d(8), torch.nn.Flatten())
print(pool(torch.randn(1, 3, 4, 4)).shape)
