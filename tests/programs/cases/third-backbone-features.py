from transformers import ResNetBackbone, ResNetConfig

config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1], out_features=["stage2", "stage5"])
backbone = ResNetBackbone(config)
print(backbone.channels)
