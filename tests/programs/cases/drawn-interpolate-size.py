import torch

maps = torch.randn(1, 3, 4, 4)
print(torch.nn.functional.interpolate(maps, size=(8, 8, 8), mode="bilinear").shape)
