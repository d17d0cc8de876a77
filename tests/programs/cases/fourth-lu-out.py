import torch

square = torch.eye(3)
packed, pivots = torch.empty(3, 3), torch.empty(3, dtype=torch.int32)
torch.lu(square, get_infos=True, out=(packed, pivots))
