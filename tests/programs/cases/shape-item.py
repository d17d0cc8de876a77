import torch

losses = torch.nn.functional.mse_loss(torch.randn(4), torch.randn(4), reduction="none")
print("loss", losses.item())
