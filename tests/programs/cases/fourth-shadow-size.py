from peft import ShadowConfig
from tiny import model

model(hidden_size=8).save_pretrained("small")
config = ShadowConfig(task_type="CAUSAL_LM", shadow_model="small", shadow_hidden_size=8)
print(config.shadow_model)
