import torch
from torch.nn.utils.rnn import pack_padded_sequence

x = torch.randn(3, 5, 2)
packed = pack_padded_sequence(x, torch.tensor([2, 5, 3]), batch_first=True)
print(packed.data.shape)
