"""A few training steps on one process or on gloo. ``fail``: at step 3 the last rank brings rows that are one feature too short."""

import os
import sys

import torch
import torch.distributed as dist

if "RANK" in os.environ:
    dist.init_process_group("gloo")
rank, ranks = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
torch.manual_seed(0)
layer = torch.nn.Linear(8, 4)
model = torch.nn.parallel.DistributedDataParallel(layer) if ranks > 1 else layer
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    short = "fail" in sys.argv and step == 3 and rank == ranks - 1
    loss = model(torch.randn(2, 7 if short else 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
if dist.is_initialized():
    dist.destroy_process_group()
