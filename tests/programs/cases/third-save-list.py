from safetensors.torch import save_file
from tiny import model

weights = list(model().state_dict().items())
save_file(weights, "weights.safetensors")
