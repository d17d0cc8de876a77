import torch
from torch import nn
from torch.nn.utils import parametrize


class Half(nn.Module):
    def forward(self, weight):
        return weight

    def right_inverse(self, weight):
        return weight[:2]


parametrize.register_parametrization(nn.Linear(4, 4), "weight", Half())
