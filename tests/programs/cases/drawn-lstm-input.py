import torch

lstm = torch.nn.LSTM(8, 16, batch_first=True)
states, _ = lstm(torch.randn(2, 3, 5, 8))
print(states.shape)
