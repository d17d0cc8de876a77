import torch

table = torch.nn.Embedding(4, 2, sparse=True)
optimizer = torch.optim.Adafactor(table.parameters(), lr=0.1)
table(torch.tensor([1])).sum().backward()
optimizer.step()
