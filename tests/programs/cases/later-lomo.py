import torch
from accelerate import Accelerator

net = torch.nn.Linear(2, 1)
accelerator = Accelerator(cpu=True)
net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
accelerator.lomo_backward(net(torch.ones(1, 2)).sum(), 0.1)
