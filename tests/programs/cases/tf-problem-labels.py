import torch
from tiny import classifier

net = classifier(num_labels=3)
ids = torch.tensor([[3, 4, 5], [6, 7, 8]])
print(net(input_ids=ids, labels=torch.tensor([0, 1, 2])).loss)
