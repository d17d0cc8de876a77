from safetensors.torch import save_file
from tiny import model

weights = {name: value.numpy() for name, value in model().state_dict().items()}
save_file(weights, "weights.safetensors")
