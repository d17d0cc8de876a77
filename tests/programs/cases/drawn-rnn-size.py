import torch

head = torch.nn.GRU(input_size=32, hidden_size=8, batch_first=True)
states = torch.randn(2, 5, 16)
print(head(states)[0].shape)
