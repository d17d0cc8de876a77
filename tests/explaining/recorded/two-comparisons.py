"""Two comparisons of one line: the line does not show which of them failed."""

import torch


def check(row, column, stored):
    assert torch.all(row == stored[0]) and torch.all(column == stored[1])


check(torch.arange(5), torch.arange(5), (torch.arange(4), torch.arange(4)))
