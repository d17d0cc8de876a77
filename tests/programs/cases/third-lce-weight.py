import torch

words, hidden = 20, 16
rare = torch.ones(words + 1)
loss = torch.nn.LinearCrossEntropyLoss(hidden, words, weight=rare)
print(loss(torch.randn(4, hidden), torch.randint(0, words, (4,))))
