from transformers import AwqConfig

AwqConfig(bits=4, backend="fast")
