import torch
from trl.trainer.utils import selective_log_softmax

logits = torch.randn(2, 5, 11)
chosen = torch.randint(0, 11, (2, 5))
print(selective_log_softmax(logits, chosen, temperature=0.0).shape)
