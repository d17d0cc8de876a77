import torch

encoder = torch.nn.Sequential(torch.nn.Conv1d(4, 8, 3, stride=2, padding="same"), torch.nn.ReLU())
print(encoder(torch.randn(1, 4, 16)).shape)
