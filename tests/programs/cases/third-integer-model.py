from tiny import config
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_config(config(), dtype="int8")
print(model.dtype)
