from peft import ArrowConfig, LoraConfig, create_arrow_model, get_peft_model
from tiny import model

get_peft_model(model(), LoraConfig(target_modules=["q_proj"], task_type="CAUSAL_LM")).save_pretrained("first")
create_arrow_model(model(), task_specific_adapter_paths=["first"], arrow_config=ArrowConfig(top_k=1, use_gks=True))
