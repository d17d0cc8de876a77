import torch
from tiny import model

net = model(hidden_size=30, num_attention_heads=4, num_key_value_heads=4)
print(net(input_ids=torch.tensor([[3, 4, 5]])).logits.shape)
