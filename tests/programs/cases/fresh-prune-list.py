from torch import nn
from torch.nn.utils import prune

layer = nn.Linear(4, 4)
prune.global_unstructured(layer, pruning_method=prune.L1Unstructured, amount=0.5)
