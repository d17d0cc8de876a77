import torch
from accelerate import Accelerator

layer = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer, optimizer = Accelerator(cpu=True).prepare(layer, optimizer, device_placement=[True])
print(type(optimizer))
