import torch
from accelerate.utils import set_module_tensor_to_device

layer = torch.nn.Linear(4, 4)
set_module_tensor_to_device(layer, "weight", "cpu", value=torch.zeros(2, 4))
