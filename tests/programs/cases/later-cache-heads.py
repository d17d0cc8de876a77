import torch
from transformers import DynamicCache
from tiny import config

cache = DynamicCache(config=config())
cache.early_initialization(1, [2, 2], [8, 8], torch.float32, torch.device("cpu"))
