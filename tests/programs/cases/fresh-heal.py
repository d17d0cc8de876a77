import torch
from tiny import model

print(model().generate(torch.tensor([[3, 4]]), token_healing=True, max_new_tokens=2))
