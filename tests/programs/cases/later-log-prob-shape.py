import torch

print(torch.distributions.Normal(torch.zeros(3), torch.ones(3)).log_prob(torch.zeros(4)))
