from peft import LoraConfig, get_peft_model
from peft.utils import set_base_model_state_dict
from tiny import model

state = {f"module.{name}": value for name, value in model().state_dict().items()}
tuned = get_peft_model(model(), LoraConfig(target_modules=["q_proj"]))
set_base_model_state_dict(tuned, state)
