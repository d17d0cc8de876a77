import torch
from accelerate import load_checkpoint_in_model
from tiny import model

torch.save(model().state_dict(), "weights.bin")
load_checkpoint_in_model(model(), "weights.bin", device_map={"lm_head": "cpu"})
