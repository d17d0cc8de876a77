import torch
from torch.distributions import RelaxedBernoulli

gate = RelaxedBernoulli(torch.tensor(0.5), probs=torch.tensor([0.2]), logits=torch.tensor([0.1]))
