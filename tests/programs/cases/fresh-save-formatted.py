import torch
from datasets import Dataset

data = Dataset.from_dict({"ids": [[1, 2], [3, 4]]}).with_format("torch", dtype=torch.float32)
data.save_to_disk("data")
