from peft import GraloraConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), GraloraConfig(r=4, gralora_k=2, hybrid_r=-1, target_modules=["q_proj"]))
