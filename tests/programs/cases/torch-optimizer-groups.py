import torch

net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
torch.save(torch.optim.Adam(net.parameters(), lr=1e-3).state_dict(), "optimizer.pt")
head = torch.optim.Adam(net[1].parameters(), lr=1e-3)
head.load_state_dict(torch.load("optimizer.pt"))
print("resumed")
