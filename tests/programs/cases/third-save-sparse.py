import torch
from safetensors.torch import save_file

embedding = torch.nn.Embedding(8, 4)
mask = (torch.rand(8, 4) > 0.8).float().to_sparse()
save_file({"embedding": embedding.weight.detach(), "mask": mask}, "weights.safetensors")
