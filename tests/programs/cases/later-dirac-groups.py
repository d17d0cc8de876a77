import torch

torch.nn.init.dirac_(torch.empty(3, 2, 3), groups=2)
