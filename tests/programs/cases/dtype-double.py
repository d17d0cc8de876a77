import numpy as np
import torch

layer = torch.nn.Linear(4, 2)
batch = torch.from_numpy(np.random.rand(3, 4))
print(layer(batch))
