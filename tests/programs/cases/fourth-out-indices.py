from transformers import ResNetConfig

stages = [2, -1]
config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1], out_indices=stages)
