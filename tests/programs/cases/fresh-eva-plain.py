from peft import initialize_lora_eva_weights
from tiny import model

initialize_lora_eva_weights(model(), [{"input_ids": __import__("torch").tensor([[3, 4]])}])
