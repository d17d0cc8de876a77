from peft import LoraConfig, get_peft_model
from tiny import model

net = get_peft_model(model(), LoraConfig(r=2, target_modules=["q_proj"], modules_to_save=["lm_head"]))
wanted = [name for name in ("german", "french") if name in net.peft_config]
net.base_model.set_adapter(wanted)
net.print_trainable_parameters()
