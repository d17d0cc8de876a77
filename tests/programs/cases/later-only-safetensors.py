import torch
from transformers import LlamaForCausalLM
from tiny import model

small = model()
small.config.save_pretrained("small")
torch.save(small.state_dict(), "small/pytorch_model.bin")
LlamaForCausalLM.from_pretrained("small", use_safetensors=True)
